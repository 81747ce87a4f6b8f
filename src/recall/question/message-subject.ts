/**
 * What a message is about, as far as rules tell: the user, a task that memories never help with, or a subject on which facts
 * that matter for safety must be known. All languages share the tables.
 */

import { maskQuotedSpeech } from '../../text/speech/quoted-speech.ts'
import { type Sentence, splitSentences } from '../../text/speech/sentences.ts'
import { seeksAdvice } from './advice.ts'

const spaced = (...sources: readonly string[]) =>
  new RegExp(`(?<![\\p{L}\\p{N}_])(?:${sources.join('|')})(?![\\p{L}\\p{N}_])`, 'iu')

/** "Tell me a joke" and "how do I center a div" name the user, but ask nothing about them. */
const INDIRECT = new RegExp(
  [
    "(?<![\\p{L}\\p{N}])(?:(?:tell|give|show|teach|sing|write|send|make|draw|read|find|get|explain to|help|remind|bring|name|play|draft|let|excuse|tell it to|recommend|suggest|pass|lend|hit|surprise|test|quiz|ask|entertain|convert|translate|make up|think of) (?:me|us)|how (?:do|can|would|could|should) (?:i|we)(?! (?:usually|normally|always|typically|like|take|get|know|feel|look))|why (?:do|are|can't) we|where (?:can|could) i (?:download|read|watch|learn)|i (?:need|want|would like|have) (?:to know|help with|you to|an? )|i'd like|i'm (?:looking for|trying to)|let's)(?![\\p{L}\\p{N}])",
    '(?<![\\p{L}\\p{N}])(?:(?:erzähl|gib|zeig|sag|schreib|sing|mach|nenn|erklär|hilf|such|lies|gebt|empfiehl|übersetz|bring|verrat)e?(?: es)? (?:mir|uns)|wie (?:mache|kann|schreibe|baue|erstelle|berechne|zentriere) (?:ich|man)|kannst du (?:mir|uns)|ich (?:brauche|möchte|hätte gern|suche) (?:ein|eine|einen))(?![\\p{L}\\p{N}])',
    '(?<![\\p{L}\\p{N}])(?:(?:me|nos) (?:cuentas|dices|das|explicas|puedes|podrías|ayudas|traduces|escribes|conta|diz|dá|explica|ajuda|diga|conte|dê|fala|mostra)|(?:conta|diz|dá|explica|mostra|fala|canta|escreve)-(?:me|nos)|cómo (?:hago|puedo|se hace)|como (?:faço|posso|se faz)|(?:puedes|podrías|pode|podes) (?:\\p{L}+)?(?:me|nos)?)(?![\\p{L}\\p{N}])',
    "(?<![\\p{L}\\p{N}])(?:(?:raconte|dis|donne|montre|explique|chante|écris|fais|aide|traduis|trouve|cite|propose|conseille)-(?:moi|nous)|(?:peux-tu|tu peux|pourrais-tu) m[e'](?: \\p{L}+)?|comment (?:je (?:fais|peux)|puis-je|faire)|j'aimerais|je (?:voudrais|cherche) une?)(?![\\p{L}\\p{N}])",
    '(?:给|告诉|教|帮|为|替|请|跟)(?:我|我们)|我(?:想知道|需要一个|想要一个|该怎么|怎么)|(?:私に|僕に|俺に)',
  ].join('|'),
  'giu',
)

const FIRST_PERSON = spaced(
  "i|i'?m|i'?ve|i'?d|i'?ll|my|me|mine|myself|we|we're|we've|our|ours|us",
  'ich|mich|mir|mein\\p{L}*|wir|uns|unser\\p{L}*',
  "je|j|me|moi|mon|ma|mes|nous|notre|nos|j'\\p{L}+|m'\\p{L}+",
  'yo|me|mi|mis|mío|mía|nosotr\\p{L}*|nuestr\\p{L}*|conmigo|soy|estoy|tengo|vivo|trabajo|hago|voy|puedo|quiero|prefiero|bebo|conduzco|juego|toco|estudio|hablo|odio|uso|corro|llevo|debo|necesito|tomo|vivimos|tenemos|somos|vamos|fui|tuve|compré|hice|dije',
  'eu|me|meu|minha|meus|minhas|nosso|nossa|nossos|nossas|comigo|sou|estou|tenho|moro|faço|vou|posso|quero|prefiro|jogo|falo|corro|devo|preciso|gosto|estudo|odeio|trabalho|tomo|moramos|temos|fui|tive|comprei|fiz|disse',
)
const UNSPACED_FIRST_PERSON =
  /我|咱|俺|私|僕|自分|うち(?:の|は|で)|[\p{Script=Hiragana}\p{Script=Katakana}]/u
/** "What did you recommend last time?" asks about an earlier conversation. */
const SHARED_PAST = spaced(
  'remember|recall|earlier|last (?:time|week|month|year|night|session|conversation|chat)|yesterday|previous(?:ly)?|again|you (?:said|told|suggested|recommended|mentioned|gave|wrote)|discussed|decided|agreed|erinnerst|gestern|letzte\\p{L}*|neulich|vorhin|besprochen|recuerdas|ayer|última|anterior|dijiste|lembra\\p{L}*|ontem|última|disseste|disse|souviens|hier|dernière|dernier|précédent\\p{L}*',
)

/** Whether a message is about the user, their things or an earlier conversation. */
export function isPersonal(message: string): boolean {
  const direct = message.replace(INDIRECT, ' ')
  return FIRST_PERSON.test(direct) || UNSPACED_FIRST_PERSON.test(direct) || SHARED_PAST.test(direct)
}

const TASK_CHARACTERS_MAX = 200
const POLITE =
  "^\\W*(?:(?:please|pls|hey|hi|ok|okay|so|now|and|just|can you|could you|would you|will you|i want you to|i'd like you to|let's|quick(?:ly)?|bitte|kannst du|könntest du|hey|mal|por favor|puedes|podrías|você pode|pode|podes|s'il te plaît|stp|peux-tu|tu peux|pourrais-tu)[,:!]?\\s+){0,4}"

const PLAY =
  'jokes?|puns?|riddles?|haikus?|limericks?|poems?|sonnets?|verse|rap|lyrics|song|story|stories|tale|fairy ?tale|fun facts?|random facts?|facts? about|trivia|tongue twisters?|knock[- ]knock|proverbs?|quotes?|quiz|witze?|rätsel|gedicht\\p{L}*|lied|geschichte|märchen|zungenbrecher|fun fact|chistes?|adivinanzas?|poemas?|canción|canciones|cuentos?|historia|trabalenguas|dato curioso|refranes?|piadas?|anedotas?|charadas?|adivinhas?|canções|contos?|história|curiosidades?|blagues?|devinettes?|haïkus?|poèmes?|chansons?|histoires?|contes?|anecdotes?|proverbes?'
const PLAY_VERB =
  'tell(?: (?:me|us))?|give(?: (?:me|us))?|sing(?: (?:me|us))?|write(?: (?:me|us))?|make(?: up)?(?: (?:me|us))?|compose|recite|say|share|got|know|do you know|invent|create|another|one more|hit me with|erzähl\\p{L}*(?: (?:mir|uns))?|schreib\\p{L}*(?: (?:mir|uns))?|sing\\p{L}*(?: (?:mir|uns))?|sag\\p{L}*(?: (?:mir|uns))?|kennst du|gib (?:mir|uns)|noch|dichte|reim|cu[ée]nta\\p{L}*|dime|escribe|escríbe\\p{L}*|c[áa]nta\\p{L}*|dame|haz|inventa|sabes|otro|conta\\p{L}*(?:-me)?|diz(?:-me)?|escreve|escreva|canta(?:-me)?|me (?:conta|diz|canta)|faz|outra|raconte\\p{L}*(?:-moi|-nous)?|écris(?:-moi|-nous)?|chante(?:-moi|-nous)?|dis(?:-moi|-nous)?|donne(?:-moi|-nous)?|invente|connais-tu|fais|encore'

const IMPERSONAL_TASKS: readonly RegExp[] = [
  new RegExp(`${POLITE}(?:${PLAY_VERB})\\s+(?:\\S+\\s+){0,5}?(?:${PLAY})(?![\\p{L}\\p{N}])`, 'iu'),
  new RegExp(
    `${POLITE}(?:translate|spell|define|conjugate|pronounce|convert|calculate|compute|solve|simplify|factor|flip (?:a|me)|toss a coin|roll (?:a|the|two|me)|pick a (?:random )?(?:number|card|color)|count (?:to|from)|sort (?:this|these|the)|reverse|alphabeti[sz]e|explain (?:the |what |how |why )?|describe how|name (?:\\p{L}+|\\d+) |list (?:the |all |three |five |ten |\\d+ )|random number|what time is it|sing|synonym|antonym|generate a random|generate (?:a|an) (?:uuid|password)|übersetz\\p{L}*|buchstabiere|definiere|konjugiere|berechne|rechne|wirf|würfle|erklär\\p{L}*|nenne?|zähle|traduce\\p{L}*|traduz\\p{L}*|tradúce\\p{L}*|deletrea|define|conjuga|calcula|lanza|tira (?:un|una)|expl[ií]ca\\p{L}*|explique|enumera|nombra|dime (?:tres|cinco|un|una)|soletra|atira|joga uma moeda|lança|diz(?:-me)? (?:três|cinco|um|uma)|cita|tradui\\p{L}*|épelle|définis|conjugue|calcule|lance|tire|explique\\p{L}*|cite|énumère|donne(?:-moi)? (?:un |une |trois |des )?(?:synonyme|antonyme|exemple|nombre))(?![\\p{L}\\p{N}])`,
    'iu',
  ),
  new RegExp(
    `${POLITE}(?:what(?:'s| is| are| does| do| was| were)|how (?:do|does|did|is|are|many|much|tall|far|long|old|big|deep|high|fast|hot|heavy|to)|who|when|why|where|which|was|wie|wer|wann|warum|wo|welche\\p{L}*|was|qué|quién|cuándo|cuánt\\p{L}*|por qué|dónde|cuál|cómo|quem|quando|quant\\p{L}*|porque|por que|onde|qual|como|o que|que|qui|quand|combien|pourquoi|où|quel\\p{L}*|comment)\\s+(?:\\S+\\s+){0,6}?(?:synonym|antonym|opposite|plural|past tense|meaning|mean|spelled|spell|pronounce|definition|capital of|population|world cup|prime number|square root|boiling point|derivative|integral|logarithm|formula|ableitung|quadratwurzel|stammfunktion|derivada|raíz cuadrada|raiz quadrada|dérivée|racine carrée|intégrale|stand for|difference between|etymology|bedeutet|heißt|mehrzahl|gegenteil|hauptstadt|einwohner|weltmeister\\p{L}*|significa|quiere decir|quer dizer|plural|sinónimo|sinônimo|capital|mundial|copa do mundo|veut dire|signifie|synonyme|pluriel|capitale|coupe du monde)(?![\\p{L}\\p{N}])`,
    'iu',
  ),
  new RegExp(
    `${POLITE}(?:write|create|give|show|make|generate|explain|build|how (?:do|can|would|should) (?:i|you|we)|how to|what(?:'s| is) (?:the|a)|schreib\\p{L}*|wie|zeig\\p{L}*|escribe|cómo|muestra|escreve|como|mostra|écris|comment|montre)\\s+(?:\\S+\\s+){0,8}?(?:python|javascript|typescript|java|rust|golang|c\\+\\+|sql|css|html|regex(?:es|p)?|bash|excel formula|for[- ]loop|while[- ]loop|div|array|function|git|docker|linked list|for-schleife|schleife|bucle|boucle|laço|script|query|algorithm|json|yaml|api)(?![\\p{L}\\p{N}])`,
    'iu',
  ),
  spaced(
    "translate|(?:in|into|to|auf|en|em|al|ins?|para o?|vers l?[e']?)\\s+(?:french|german|spanish|italian|portuguese|japanese|chinese|korean|russian|dutch|polish|latin|arabic|swedish|turkish|greek|englische?|französische?|spanische?|italienische?|japanische?|inglés|francés|alemán|italiano|japonés|inglês|francês|alemão|espanhol|japonês|anglais|français|allemand|espagnol|italien|japonais)\\W*$",
    "synonym (?:for|of)|(?:another|a better) word for|synonym für|sinónimo de|sinônimo de|synonyme d[e']",
  ),
  /(?:讲|说|来|写|编|唱)(?:一?[个首段则篇]|个)?.{0,12}(?:笑话|俳句|诗|谜语|歌|故事|绕口令|段子)|翻译|用.{1,4}(?:语|文)怎么说|首都|世界杯|等于多少|什么意思|近义词|反义词|(?:写|用).{0,6}(?:python|javascript|sql|正则|代码|函数|循环)|掷骰子|抛硬币|^为什么|天空/iu,
  /(?:冗談|ジョーク|俳句|詩|なぞなぞ|歌|物語|早口言葉|短歌|小話).{0,8}(?:を?(?:言って|書いて|教えて|歌って|作って|話して|聞かせて)|して)|訳して|語で(?:何|なん)(?:と|て)|首都|ワールドカップ|どういう意味|(?:類義語|反対語)|かける\d|(?:python|javascript|sql|正規表現).{0,10}|サイコロ|コイン|^なぜ/iu,
]

/** Whether a message asks for something that no memory helps with: a joke, a translation, a definition, code. */
export function isImpersonalTask(message: string): boolean {
  if (message.length > TASK_CHARACTERS_MAX) return false
  const direct = message.replace(INDIRECT, ' ')
  if (FIRST_PERSON.test(direct) || SHARED_PAST.test(direct)) return false
  if (/我|私|僕|俺/u.test(direct)) return false
  return IMPERSONAL_TASKS.some((task) => task.test(message))
}

/** A question about work at hand, or about the text of the conversation, is answered without memories. */
const WORK = spaced(
  'this|these|here|above|below|following|attached|code|codebase|functions?|scripts?|programs?|quer(?:y|ies)|variables?|arrays?|strings?|loops?|methods?|regex|repo(?:sitory)?|branch(?:es)?|commits?|builds?|servers?|containers?|docker|git|github|apis?|databases?|columns?|files?|folders?|configs?|packages?|librar(?:y|ies)|frameworks?|modules?|components?|algorithms?|errors?|exceptions?|bugs?|logs?|stack|compiler|python|javascript|typescript|java|rust|sql|css|html|react|npm|divs?|buttons?|essays?|paragraphs?|sentences?|drafts?|equations?|formulas?|proofs?|arguments?|parameters?|ip|browser|wrong|mistakes?|undefined|null|crash\\p{L}*|compile|deploy\\p{L}*|install|terminal|pipeline|schema|endpoint|cell|spreadsheet|excel|pdf|screen|laptop|router|printer|grammar|spelling|excel|password manager|test(?:s|ing)?|app|website|page|email|letter|text|tone|why (?:does|do|is|are|won.?t|isn.?t|doesn.?t|can.?t)',
  'dies\\p{L}*|hier|oben|unten|folgende\\p{L}*|fehler|funktion|datei|datenbank|server|skript|schleife|abfrage|code|programm|satz|text|rechner|drucker|schleife|warum (?!habe|hab|bin|war)',
  'est[aeo]|aquí|arriba|abajo|siguiente|error|función|archivo|base de datos|servidor|código|programa|frase|texto|ordenador|bucle|laço|por qu[eé]|porqu[eê]|aqui|acima|abaixo|seguinte|erro|função|arquivo|ficheiro|banco de dados|computador',
  'ce|cet|cette|ces|ici|ci-dessus|suivant|erreur|fonction|fichier|base de données|serveur|code|programme|phrase|texte|ordinateur|boucle|pourquoi',
)
const UNSPACED_WORK =
  /为什么|怎么回事|循环|这|代码|函数|文件|报错|错误|程序|数据库|脚本|句|文章|なぜ|どうして|ループ|この|コード|関数|ファイル|エラー|プログラム|文章|データベース/u
const POSSESSIVE = spaced(
  "my|our|mine|ours|am i|do i|did i|was i|were we|have i|had i|has my|have we|do we|did we|should i|should we|could i|would i|will i|i should|i could|for me|for us|suit me|i usually|i always|i like|i prefer|i'd like|i would like|i'd enjoy|i have|i had|i was|i said|i did|i told|i bought|i need|remind me",
  'mein\\p{L}*|unser\\p{L}*|habe ich|hab ich|bin ich|war ich|soll(?:te)? ich|kann ich|muss ich|mag ich|esse ich|wohne ich|arbeite ich|haben wir|sind wir|sollen wir|für mich|für uns|mir gefallen|zu mir',
  'mi|mis|mío|mía|nuestr\\p{L}*|vivo|tengo|soy|debería|debo|puedo|me gust\\p{L}*|tenemos|somos|para mí|para nosotros|dije|fui|compré|meu|minha|meus|minhas|noss[oa]s?|moro|tenho|sou|deveria|devo|posso|gosto|temos|somos|para mim|para nós|disse|comprei',
  "mon|ma|mes|notre|nos|ai-je|suis-je|j'ai|j'étais|j'habite|dois-je|devrais-je|puis-je|pour moi|pour nous|me plairait|j'aime|avons-nous|nous avons",
)
const UNSPACED_POSSESSIVE = /我|咱|私|僕|俺|うち/u

/** Whether a message asks something that depends on the user: "Should I take the early train?" */
export function asksPersonalQuestion(message: string): boolean {
  if (isImpersonalTask(message)) return false
  const speech = maskQuotedSpeech(message)
  return splitSentences(speech).some((sentence) => {
    if (!sentence.isQuestion && !isAsked(speech, sentence)) return false
    const text = speech.slice(sentence.start, sentence.end).replace(INDIRECT, ' ')
    const isOwn = POSSESSIVE.test(text) || UNSPACED_POSSESSIVE.test(text)
    return isOwn && !WORK.test(text) && !UNSPACED_WORK.test(text)
  })
}

/** A question without a question mark shows in its first words. */
const QUESTION_START =
  /^\W*(?:(?:and|so|hey|ok|okay|also|but|hi|please|pls)[,\s]+)*(?:what(?:'?s)?|which|who(?:'?s)?|whose|when|where|how|why|do|does|did|am|is|are|was|were|can|could|should|would|will|have|has|remind|suggest|recommend|plan|help me (?:choose|pick|decide|plan)|any|give me (?:some )?(?:ideas|tips|advice)|tell me (?:what|when|where|who|how|about)|was|wie|wer|wann|wo|wohin|welche\p{L}*|warum|soll|sollte|habe?|bin|kann|empfiehl|schlag|qué|quién|cuándo|cuánto|dónde|cuál|cómo|por qué|debería|recomienda|sugiere|quem|quando|quanto|onde|qual|como|o que|devo|deveria|recomenda|sugere|que|qui|quand|combien|où|quel\p{L}*|comment|est-ce|qu'est-ce|dois-je|devrais-je|recommande|conseille)(?![\p{L}])/iu

function isAsked(speech: string, { start, end }: Sentence): boolean {
  return QUESTION_START.test(speech.slice(start, Math.min(end, start + TASK_CHARACTERS_MAX)))
}

/** Words of facts that matter for safety: allergies, illnesses, medication, diets, disabilities. */
const SAFETY_FACT = new RegExp(
  [
    'allerg\\p{L}*|al[ée]rg\\p{L}*|intoleran\\p{L}*|intolér\\p{L}*|unverträglich\\p{L}*|anaphyla\\p{L}*|epi-?pen|c(?:o)?eliac|zöliakie|celía\\p{L}*|cœliaque|coeliaque|gluten\\p{L}*|la[ck]tos\\p{L}*|diab[eèé]t\\p{L}*|asthma\\p{L}*|asma|asthme|epilep\\p{L}*|épilep\\p{L}*|seizures?|vegans?|vegan\\p{L}*|végan\\p{L}*|vegetari\\p{L}*|végétari\\p{L}*|pescatarian|pescetari\\p{L}*|halal|kosher|koscher|casher|pregnan\\p{L}*|schwanger|embarazada|enceinte|grávida|grossesse|breastfeeding|stillt|insulin\\p{L}*|warfarin|blood thinners?|blutverdünner\\p{L}*|anticoagul\\p{L}*|metformin\\p{L}*|metoprolol|lisinopril|statins?|antidepress\\p{L}*|medications?|medicines?|medikament\\p{L}*|medicación|medicamentos?|médicaments?|medicação|remédios?|prescri\\p{L}*|blood pressure|bluthochdruck|hipertens\\p{L}*|hypertens\\p{L}*|heart (?:condition|disease|failure|attack)|herz(?:krank|fehler|schrittmacher)\\p{L}*|pacemaker|kidney disease|wheelchairs?|rollstuhl\\p{L}*|silla de ruedas|fauteuil roulant|cadeira de rodas|crutch\\p{L}*|mobility|barrierefrei|step-?free|deaf|gehörlos|schwerhörig|hard of hearing|hearing aids?|sord[ao]|surd[ao]|sourde?|blind\\p{L}*|cieg[ao]|ceg[ao]|aveugle|visually impaired|colou?r-?blind|dementia|demenz|alzheimer\\p{L}*|claustrophob\\p{L}*|klaustrophob\\p{L}*|fear of (?:flying|heights)|flugangst|höhenangst|migraines?|sober|recovering alcoholic|alkoholiker\\p{L}*|teetotal|epilept\\p{L}*|hemophil\\p{L}*|crohn\\p{L}*|histamin\\p{L}*|fructose|low[- ]sodium|low[- ]carb|service dog|guide dog|autis\\p{L}*|chemo\\p{L}*',
    "(?:can'?t|cannot|don'?t|doesn'?t|do not|does not|never|must not|mustn'?t|not allowed to|no longer|not supposed to|avoids?) (?:\\p{L}+ ){0,2}?(?:eat|drink|tolerate|stomach|digest)|(?:esse|isst|essen|trinke|trinkt|vertrage|verträgt|darf) (?:\\p{L}+ ){0,3}?(?:kein\\p{L}*|nicht|nie)|no (?:com[eo]|comemos|beb[eo]|pued[eo] (?:comer|tomar|beber)|toler[ao])|não (?:com[eo]|comemos|beb[eo]|pode comer|posso (?:comer|tomar|beber)|toler[ao])|ne (?:mange|mangeons|boit?s?|supporte|tolère|peut pas (?:manger|prendre)) (?:pas|plus|jamais)|(?:takes?|taking|on|nehme|nimmt|tomo|toma|prends|prend) (?:\\p{L}+ ){0,3}?(?:pills?|tablets?|\\d+ ?mg|tabletten|pastillas|comprimidos|comprimés|\\p{L}+(?:olol|pril|statin|sartan|azole|idine|mycin|cillin|pam|ine))",
  ]
    .map((words) => `(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`)
    .join('|'),
  'iu',
)
const UNSPACED_SAFETY_FACT =
  /过敏|不耐|乳糖|糖尿病|哮喘|癫痫|吃素|素食|清真|不吃|不能吃|不喝酒|怀孕|孕妇|轮椅|失聪|失明|听障|视障|服用|吃药|高血压|心脏病|アレルギー|不耐症|糖尿病|喘息|てんかん|ベジタリアン|ヴィーガン|ビーガン|菜食|ハラ[ルー]|食べられ(?:ない|ません)|食べ(?:ない|ません)|飲め(?:ない|ません)|妊娠|車椅子|車いす|耳が(?:聞こえ|遠)|目が見え|薬を飲|服用|高血圧|心臓/u

/** Whether a statement matters for safety: an allergy, an illness, medication, a diet or a disability. */
export function isSafetyFact(content: string): boolean {
  return SAFETY_FACT.test(content) || UNSPACED_SAFETY_FACT.test(content)
}

/** Search terms for such statements, by language; hits still have to pass `isSafetyFact`. */
export const SAFETY_HINTS: readonly string[] = [
  'allergic allergy allergies intolerant intolerance celiac coeliac lactose gluten diabetic diabetes asthma epilepsy vegan vegetarian pescatarian halal kosher pregnant medication pills takes insulin wheelchair deaf blind hearing blood pressure heart condition eat drink sober',
  'allergisch Allergie Unverträglichkeit Zöliakie Laktose Gluten Diabetes Diabetiker Asthma Epilepsie vegan vegetarisch Vegetarier Vegetarierin Veganer halal koscher schwanger Medikament Tabletten Insulin Rollstuhl gehörlos blind Bluthochdruck Herz isst esse verträgt',
  'alérgico alérgica alergia intolerante intolerancia celíaco celíaca lactosa gluten diabético diabética diabetes asma epilepsia vegano vegana vegetariano vegetariana embarazada medicación medicamento insulina silla ruedas sordo ciego hipertensión come comer bebe',
  'alérgico alérgica alergia intolerante intolerância celíaco celíaca lactose glúten diabético diabética diabetes asma epilepsia vegano vegetariano vegetariana grávida medicação remédio insulina cadeira rodas surdo cego hipertensão come comer bebe',
  'allergique allergie intolérant intolérance cœliaque coeliaque lactose gluten diabétique diabète asthme épilepsie végan végétarien végétarienne enceinte médicament insuline fauteuil roulant sourd aveugle hypertension mange manger boit',
  '过敏 不耐 乳糖 糖尿病 哮喘 癫痫 吃素 素食 清真 不吃 怀孕 轮椅 失聪 失明 服用 高血压',
  'アレルギー 不耐症 糖尿病 喘息 てんかん ベジタリアン ヴィーガン ハラル 食べられない 食べない 妊娠 車椅子 薬 服用 高血圧',
]

/** Food, cooking, medicine, gifts, travel and events. */
const SAFETY_SUBJECT = spaced(
  "eat(?:ing|s)?|ate|food|foods|foodie|cook(?:ing|s|ed)?|recipes?|meals?|dinners?|lunch(?:es|box(?:es)?)?|breakfasts?|brunch|snacks?|desserts?|cakes?|cookies?|bak(?:e|ing|ed)|menus?|dish(?:es)?|drinks?|cocktails?|wines?|beers?|groceries|grocery|supermarket|bbq|barbecue|grill(?:ing)?|picnics?|potluck|restaurants?|caf[eé]s?|takeout|takeaway|takeaways|catering|buffet|soup|curry|pasta|pizza|sushi|salad|sandwich(?:es)?|chocolates?|candy|sweets|cheese|dinner party|dietitian|nutrition|diet|protein|smoothies?|ingredients?|appetizers?|starters?|treats?|pancakes?|ice cream|seafood|stir[- ]fry|casserole|leftovers|pills?|medicines?|medications?|ibuprofen|aspirin|paracetamol|acetaminophen|antibiotics?|amoxicillin|penicillin|painkillers?|pharmacy|headaches?|fever|cold|flu|dose|dosage|vaccines?|vaccinations?|supplements?|vitamins?|cough|sore throat|antihistamines?|doctor|hospital|surgery|gifts?|presents?|stocking stuffers?|hamper|birthday|christmas|hanukkah|eid|anniversary|valentine'?s|trips?|travel(?:l?ing)?|flights?|fly|airlines?|hotels?|airbnb|vacations?|holidays?|itinerary|visit|visiting|weekend|getaway|cruise|camping|hike|hiking|road trip|tour|pack(?:ing)?|part(?:y|ies)|weddings?|concerts?|museums?|theat(?:er|re)|events?|outings?|night out|reception|festival|team lunch|offsite|conference|host(?:ing)?|guests?|sleepover|treat",
  'ess(?:e|en|t|t|bar\\p{L}*)?|isst|gegessen|lebensmittel|koch(?:e|en|st)?|gekocht|rezepte?|mahlzeit\\p{L}*|abendessen|mittagessen|mittag|frühstück\\p{L}*|snacks?|nachtisch\\p{L}*|desserts?|kuchen|torte\\p{L}*|kekse?|back(?:e|en)|gebäck|gericht\\p{L}*|getränk\\p{L}*|cocktails?|wein|bier|einkauf\\p{L}*|grill\\p{L}*|picknick|restaurants?|lokal|café|catering|buffet|suppe|salat|pizza|sushi|schokolade|süßigkeit\\p{L}*|käse|tablette\\p{L}*|medizin|medikament\\p{L}*|ibuprofen|aspirin|paracetamol|antibiotik\\p{L}*|schmerzmittel|apotheke|kopfschmerz\\p{L}*|fieber|erkältung|grippe|dosis|impf\\p{L}*|arzt|geschenk\\p{L}*|geburtstag\\p{L}*|weihnacht\\p{L}*|mitbringsel|reise\\p{L}*|flug|flüge|fliegen|hotel\\p{L}*|urlaub\\p{L}*|ausflug|wochenende|wandern|städtetrip|party|partys|feier\\p{L}*|hochzeit\\p{L}*|konzert\\p{L}*|museum|theater|veranstaltung\\p{L}*|gäste|einladung',
  'com(?:er|ida|idas|emos)|cocin[ao]\\p{L}*|recetas?|cen(?:a|ar|as)|almuerzo|almorzar|desayun[oa]\\p{L}*|merienda|postres?|tartas?|pastel\\p{L}*|galletas?|hornear|menú|platos?|bebidas?|cóctel\\p{L}*|vino|cerveza|compra|supermercado|barbacoa|picnic|restaurantes?|sopa|ensalada|pizza|sushi|chocolate\\p{L}*|dulces|queso|pastillas?|medicinas?|medicamentos?|ibuprofeno|aspirina|paracetamol|antibiótico\\p{L}*|amoxicilina|penicilina|farmacia|dolor|fiebre|resfriado|gripe|dosis|vacuna\\p{L}*|médico|infección|regal\\p{L}*|cumpleaños|navidad|viaj\\p{L}*|vuelo\\p{L}*|hotel\\p{L}*|vacaciones|excursión|fin de semana|fiestas?|bodas?|conciertos?|museos?|teatro|eventos?|invitados?',
  'comidas?|comer|cozinh\\p{L}*|receitas?|jantar\\p{L}*|almoço|almoçar|café da manhã|pequeno[- ]almoço|lanche\\p{L}*|sobremesas?|bolos?|biscoitos?|bolachas?|assar|cardápio|pratos?|bebidas?|coquetel|vinho|cerveja|compras|supermercado|churrasco|piquenique|restaurantes?|sopa|salada|pizza|sushi|chocolate\\p{L}*|doces|queijo|comprimidos?|remédios?|medicamentos?|ibuprofeno|aspirina|paracetamol|antibiótico\\p{L}*|amoxicilina|penicilina|farmácia|dor|febre|gripe|constipação|dose|vacina\\p{L}*|médico|infecção|presente\\p{L}*|prenda\\p{L}*|aniversário|natal|viag\\p{L}*|viajar|voo\\p{L}*|hotel|hotéis|férias|passeio|fim de semana|festas?|casamento\\p{L}*|concertos?|shows?|museus?|teatro|eventos?|convidados?',
  'mang\\p{L}*|nourriture|cuisin\\p{L}*|recettes?|repas|dîn\\p{L}*|déjeun\\p{L}*|petit[- ]déjeuner|goûter|desserts?|gâteaux?|biscuits?|menu|plats?|boissons?|boire|cocktails?|vin|bière|courses|supermarché|barbecue|pique-nique|restaurants?|resto|soupe|salade|pizza|sushi|chocolats?|bonbons|fromage|comprimés?|médicaments?|ibuprofène|aspirine|paracétamol|antibiotiques?|amoxicilline|pénicilline|pharmacie|mal de tête|fièvre|rhume|grippe|dose|vaccin\\p{L}*|médecin|infection|cadeaux?|anniversaire|noël|voyag\\p{L}*|vols?|avion|hôtels?|vacances|excursion|week-end|randonnée|fêtes?|soirée|mariage\\p{L}*|concerts?|musées?|théâtre|événements?|invités?',
)
const UNSPACED_SAFETY_SUBJECT =
  /吃|饭|菜|餐|食|做什么好|零食|甜点|蛋糕|饼干|喝|酒|烧烤|药|头疼|发烧|感冒|疫苗|医生|礼物|生日|圣诞|旅|机票|航班|酒店|度假|周末|聚会|婚礼|音乐会|博物馆|活动|ご飯|夕食|昼食|朝食|料理|レシピ|食べ|飲み|おやつ|デザート|ケーキ|クッキー|レストラン|外食|薬|頭痛|熱|風邪|ワクチン|病院|プレゼント|贈り物|お土産|誕生日|クリスマス|旅行|飛行機|ホテル|休暇|週末|パーティー|結婚式|コンサート|美術館|イベント|弁当/u

/** "What did Ana cook?" asks for a fact. */
const FACT_QUESTION =
  /^\W*(?:what(?:'s)?(?! (?:should|could|can|shall|would|do you (?:suggest|recommend)))|which|who|whose|when|where|why|how (?:many|much|long|old|did|does|do|is|was|are)|did|does|is|was|were|has|have|wer|wann|wo|warum|welche\p{L}*|hat|ist|quién|cuándo|cuánt\p{L}*|cuál|quem|quando|quant\p{L}*|qual|qui|quand|combien)(?!\p{L})/iu
const RECOMMENDABLE = spaced(
  'good|best|better|nice|nicest|healthy|easy|quick|cheap|safe|okay|ok|ideas?|idea|fun|gut|gute\\p{L}*|beste\\p{L}*|schnell\\p{L}*|gesund\\p{L}*|buen[oa]s?|mejor\\p{L}*|bo[am]s?|bons?|bonnes?|melhor\\p{L}*|meilleure?s?|sicher|ideen',
)

const SHORT_WORDS_MAX = 7

/** A request that names nobody: "any cookie recipes?", "best snacks for a hike". Longer ones that neither name the user nor seek advice state something. */
function isOpenRequest(message: string): boolean {
  if (FACT_QUESTION.test(message)) return RECOMMENDABLE.test(message)
  return message.split(/\s+/u).length <= SHORT_WORDS_MAX
}

/** Whether safety facts must be known to answer. */
export function needsSafetyFacts(message: string): boolean {
  if (isImpersonalTask(message)) return false
  if (!isPersonal(message) && !seeksAdvice(message) && !isOpenRequest(message)) return false
  return SAFETY_SUBJECT.test(message) || UNSPACED_SAFETY_SUBJECT.test(message)
}
