/** Words by what they add to a claim: nothing, little, or a phrase of its own. */

import { foldWord } from './concepts.ts'
import { listQuantities } from './quantities.ts'

/** Words of claims that state nothing: the user, articles, auxiliaries, and how it was said. */
const FRAME_WORDS = new Set(
  (
    'the a an of in on at to for with by from and or as is are was were be been being has have had having do does did will would can could ' +
    'user users their theirs they them his her hers him he she it its this that these those who whom whose which there where when while ' +
    'also currently now already still just only very really quite own new about into over than then so such both each other another ' +
    'mention mentions mentioned say says said state states stated report reports reported ask asks asked express expresses expressed note notes noted ' +
    'indicate indicates described describes plus per via during since until around approximately about roughly between within again soon here ' +
    'hour hours minute minutes second seconds min mins hrs somebody anybody everyone everybody lot lots much bit ' +
    'some any one someone person people thing something time times because due instead up out off ago am pm uhr oclock clock ' +
    'a.m p.m euros euro eur dollars dollar usd km kilometers kilometres year years old month months week weeks day days part team called name named ' +
    'get gets got getting make makes made take takes took goes go went come comes came set sets put keep keeps kept give gives ' +
    'der die das den dem des ein eine einen einem einer eines und oder im in am an auf zu zum zur bei mit von vom fur seit nach vor um als ist sind war ' +
    'hat haben wird werden nutzer nutzerin nutzers benutzer benutzerin sein seine seinen seiner ihr ihre ihren ihrer er sie es sich auch nur jetzt aktuell derzeit schon noch dass ' +
    'heißt jahre jahr jahren gern gerne etwas viel kann selbst dort da wo so sehr ' +
    'el la los las un una unos unas de del al en con por para y e o que se su sus le les es son esta estan ser fue usuario usuaria tambien ahora ya como desde hace anos ano lo muy actualmente llama ' +
    'le la les un une des du de d l au aux en dans avec pour par et ou que qui se son sa ses leur leurs il elle est sont etre a ont utilisateur utilisatrice aussi maintenant actuellement comme depuis ans an y ce s n ' +
    'o a os as um uma uns de do da dos das no na nos nas ao em com por para e que se seu sua seus suas ele ela esta sao ser foi usuario usuaria utilizador utilizadora tambem agora ja como desde ha anos chama chama-se ' +
    "ne pas non no not nicht kein keine keinen nie nao n never longer anymore mehr plus cannot can't don't doesn't won't isn't"
  )
    .split(/\s+/u)
    .map(foldWord),
)
const CJK_FRAME =
  /^(?:用户|使用者|ユーザー|さん|的|了|在|是|有|和|与|他|她|它|也|都|就|会|能|要|对|把|被|让|从|到|为|于|中|上|下|里|一|个|一个|一家|家|位|名|今年|现在|目前|平时|岁|年|月|日|の|は|が|を|に|で|と|も|へ|や|から|まで|より|です|ます|だ|である|でし|まし|た|て|い|いる|いて|して|し|する|おり|ある|なる|なり|って|という|こと|もの|ん|ない|ません|不|没|没有|食|べ|られ|れ|せ|ば|な|お|ご|ね|よ)$/u

/** Days, months and numbers, which are checked as quantities. */
export function isQuantityWord(text: string): boolean {
  if (/^(?:[月火水木金土日]曜日?|(?:星期|周|礼拜)[一二三四五六日天])$/u.test(text)) return true
  return /^\p{Script=Latin}/u.test(text) && listQuantities(text).length > 0
}

export function isFrameWord(folded: string, text: string): boolean {
  if (/^\d/u.test(folded)) return /^\d+(?:[.,:/-]\d+)*(?:\p{L}{0,2})$/u.test(folded)
  return FRAME_WORDS.has(folded) || CJK_FRAME.test(text) || folded === ''
}

/** Nouns and verbs that add nothing to the words beside them: "celiac disease", "wants answers in English". */
export const SOFT_WORDS = new Set(
  (
    'recently currently recent total overall entire roughly nearly almost mostly mainly usually member members firm district area region neighborhood neighbourhood ' +
    'position positions role roles studies skill skills feedback resource resources report reports period amount value level rate age aged charge charges aside ' +
    'session sessions item items option options detail details reason reasons purpose purposes staff colleague colleagues coworker acquaintance guy ' +
    'spend spends spent receives receive received estimates estimated owes owe earns earn commutes commute suffers suffer feels feel felt reports attends ' +
    'consists consist includes include contains contain lasts last located situated resides experiences experience finds takes taking doing does handles ' +
    'likes prefers seeks seeking requests requested required require requires asks looks looking hopes hope aims intends planning considering thinks believes ' +
    'co gets holds tends weighs weigh travels travelling traveling sleeps shows degree degrees odometer national nationality former height width size weight name ' +
    'cycle money messages invited couple trip journey exam test must attended attending includes team family company household parents care available availability ' +
    'kg km g mg mcg ml down off through enough dose ' +
    'kurzem mag überlegt lang lange neue neuer neues seit kürzlich insgesamt stelle bereich zuständig arbeitet lebt wohnt findet statt beträgt möchte kürzlich trabaja vive reside recientemente motivos ' +
    'actualmente cuesta travaille habite cherche récemment atualmente recentemente trabalha mora ' +
    'want wants would like disease condition city town country appointment place person problem issue matter topic kind type ' +
    'eat eats eating drink drinks use uses using isst trinkt come bebe mange boit nutzt usa utilise ' +
    'preference prefers need needs plan plans intend intends call called decision status currently based known ' +
    'mochte stadt land krankheit termin quiere ciudad pais cita souhaite veut ville pays quer cidade'
  ).split(' '),
)

export const PREPOSITION = new Set(
  (
    'for as at with without to against because after in on during by despite from into about before since through over under and or ' +
    'für als bei mit ohne zu gegen wegen nach in auf während durch trotz aus von vor seit um und ' +
    'para como en con sin contra por tras desde sobre antes durante y pour comme avec sans contre par après dans depuis avant pendant et ' +
    'com sem contra após em desde sobre antes durante e'
  )
    .split(' ')
    .map(foldWord),
)

/** Words of everyday language that a paraphrase may add, when enough specific words are the user's own. */
export const GENERIC_WORDS = new Set(
  (
    'live lives lived living stay stays place current present work works working worked job main topic topics goal goals simple native use uses used own owns ' +
    'able far top regular regularly usual usually often personal daily different several various many few certain main particular special ' +
    'group kind sort part number amount level area field service activity activities activity experience interest interests interested ' +
    'attracted important serious great good nice bad better best big small long short early late old young happy ' +
    'help helps helped plan planned planning visit visits visited travel travels join joined keep keeps bring brings find finds ' +
    'think thinks feel feels know knows learn see sees look looks tell tells told talk talks enjoy enjoys try tries tried start started begin began ' +
    'spend spends pay pays cost costs buy buys bought change changed changes move moved attend attends include includes involve involves ' +
    'lebt wohnt arbeitet macht geht kommt nutzt findet braucht bekommt derzeitige aktuelle wichtig gut neu groß klein vive trabaja hace tiene usa ' +
    'actual importante bueno buena nuevo nueva habite travaille fait utilise actuelle important bon bonne nouveau nouvelle mora trabalha faz usa atual bom boa novo nova ' +
    '已 已经 负责 创办 创立 参加 进行 担任 元 块 面 程度 あたり 住 住在 ' +
    '目前 现在 工作 使用 学习 认为 感到 现 使う 思う 現在'
  )
    .split(' ')
    .map(foldWord),
)

/** Words before a noun phrase. */
export const DETERMINER = new Set(
  (
    'a an the his her their its this that some any another my your our ein eine einen einem einer der die das den dem des ' +
    'sein seine ihr ihre un una el la los las su sus une le les son sa ses leur leurs um uma o os as seu sua'
  ).split(' '),
)

/** After these begins a clause, not a noun phrase. */
export const LINKING = new Set('that dass que as'.split(' '))

/** Words that change what a claim says, so that no paraphrase may add them. */
export const DECISIVE_WORDS = new Set(
  (
    'alone together fluent fluently far only all never always no none first best worst most least half double fully entirely completely permanently ' +
    'allein nur alle jede nie immer solo solamente todos nunca siempre seul seulement tous toujours jamais sozinho apenas todos sempre'
  ).split(' '),
)
