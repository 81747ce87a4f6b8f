/**
 * Whether a text tells an assistant what to do rather than telling something. What is remembered is put before models
 * again, so a memory that commands is the way in which one message could steer all later ones.
 *
 * Rules can't know what a sentence is meant for. What they find waits for a person; nothing is thrown away by them.
 */

import { clipMessage, normalizeText } from './speech/message-text.ts'

/** Somebody wants to be taken for whoever gives the orders: wrong in any text. */
export function isInstructionOverride(text: string): boolean {
  return matchesAny(OVERRIDES, normalizeForDetection(text))
}

/** As above, or it speaks of what stands behind an assistant. A message like that is not to be kept unseen. */
export function isPromptInjection(text: string): boolean {
  const said = normalizeForDetection(text)
  return matchesAny(OVERRIDES, said) || matchesAny(MENTIONS, said)
}

/** As above, or an order to the assistant: right in a message, wrong in a fact. */
export function isAssistantInstruction(text: string): boolean {
  return isPromptInjection(text) || matchesAny(ORDERS, normalizeForDetection(text))
}

function matchesAny(patterns: readonly RegExp[], said: string): boolean {
  return patterns.some((pattern) => pattern.test(said))
}

/** Folded, and so much of it that the work is bounded. Lines stay: a role stands at the beginning of one. */
function normalizeForDetection(text: string): string {
  return stripAccents(normalizeText(clipMessage(text))).replace(/[^\S\n]+/g, ' ')
}

/** Many leave them out when they type, and some to pass unseen. Of Latin letters only: the marks of kana are no accents. */
function stripAccents(text: string): string {
  return text
    .normalize('NFD')
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, '')
    .normalize('NFC')
}

/** Not within a word. */
const spaced = (source: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${stripAccents(source)})(?![\\p{L}\\p{N}])`, 'u')

/** Chinese and Japanese have no blanks to go by. */
const dense = (source: string) => new RegExp(source, 'u')

/** At the beginning of a sentence, or after what makes an order polite. */
const begins = (source: string) =>
  new RegExp(
    `(?:^|[.!?;:。！？\\n"“«>-] ?)(?:please,? |kindly |bitte |por favor,? |s'il (?:te|vous) plait,? |assistant[,:] |now,? |and |then |also )*(?:${stripAccents(source)})(?![\\p{L}\\p{N}])`,
    'u',
  )

/** Up to so many words in between. */
const some = (count: number) => `(?:[^ .!?\\n]+ ){0,${count}}?`

const ROLE = 'system|assistant|developer|tool|function|instructions?'

/** A role before what it says. */
function buildRoleLinePattern(roles: string): RegExp {
  return new RegExp(
    `(?:^|\\n|[.!?>] |<!-- ?) ?(?:#{1,4} ?|\\*\\*)?(?:${roles})(?:\\*\\*)? ?: ?\\S`,
    'u',
  )
}

/** In all languages: marks by which prompts are divided. */
const MARKS: readonly RegExp[] = [
  new RegExp(
    `< ?/? ?(?:${ROLE}|user|relevant-memories|recollect-memory)(?![\\p{L}-])[^>\\n]{0,80}>`,
    'u',
  ),
  /<\|[a-z_ ]{1,30}\|>|\[\/?inst\]|<<\/?sys>>|<(?:start|end)_of_turn>/u,
  buildRoleLinePattern('system|developer'),
  /\[ ?(?:system|admin|developer)(?: [^\]\n]{0,40})?\]/u,
  /"role" ?: ?"(?:system|developer|assistant)"/u,
]

/** What only those speak of who build assistants, and those who want to break them. */
const MENTIONS: readonly RegExp[] = [
  buildRoleLinePattern('assistant|human'),
  /(?:bypass|override|admin|safety|unrestricted|jailbreak)[a-z_]* ?= ?(?:true|1|on|yes)/u,
  spaced('(?:admin|sudo|debug) mode'),
  spaced(
    'system (?:prompt|message|instructions?)|developer (?:message|prompt|mode)|jailbreak|dan mode',
  ),
  spaced(
    'system-?prompts?|systemnachricht|systemanweisung(?:en)?|entwicklernachricht|entwicklermodus',
  ),
  spaced(
    '(?:prompt|mensaje|instrucciones) (?:de|del) (?:sistema|desarrollador)|modo desarrollador',
  ),
  spaced(
    '(?:prompt|invite|message|instructions?) (?:du )?(?:système|développeur)|mode développeur',
  ),
  spaced(
    '(?:prompt|mensagem|instruções) (?:de|do) (?:sistema|desenvolvedor|programador)|modo (?:de )?desenvolvedor',
  ),
  dense('系统(?:提示词?|消息|指令)|开发者(?:消息|模式|指令)|越狱模式'),
  dense('システム(?:プロンプト|メッセージ|指示)|開発者(?:メッセージ|モード)'),
]

const OVERRIDES: readonly RegExp[] = [
  ...MARKS,
  // English
  spaced(
    `(?:ignore|disregard|forget|override|bypass|neglect|abandon|discard|set aside|put aside|(?:do not|don't|stop|never) (?:follow|following|obey|obeying)) ${some(4)}(?:previous|prior|above|earlier|preceding|all|any|your|the|these|those|system|developer|foregoing)(?: [^ .!?\\n]+){0,3}? (?:instructions?|prompts?|rules|guidelines|directions|commands|directives|orders|policies|messages?)|your (?:previous|prior|original|initial|old|former|current) (?:instructions?|guidelines|rules|orders|programming)`,
  ),
  spaced("(?:do not|don't) (?:follow|obey|listen to) (?:the )?(?:system|developer)"),
  spaced(
    'from now on,? (?:you|the assistant|act|answer|respond|reply|always|never)|you are (?:now|no longer) (?:an?|the|in|dan|bound|free|restricted|unrestricted|unfiltered|uncensored|allowed)|do anything now',
  ),
  spaced(
    `(?:ignore|disregard|forget|discard|drop) ${some(2)}(?:everything|anything|all|whatever)(?: that| which)? (?:above|before|prior|previous|said|written|you (?:were|have been|know|learned|are) ?(?:told|taught)?|i (?:said|told)|stated|up to)`,
  ),
  spaced(
    `(?:ignore|disregard|forget|override|overrule|bypass|circumvent|disable|remove|lift|turn off|deactivate) (?:(?:your|all|any|every|its|these|safety) ${some(2)}(?:restrictions?|safety|safeguards?|guardrails?|protocols?|programming|limitations?|censorship)|${some(2)}(?:your|safety|content|security|moderation) ${some(1)}(?:filters?|training|constraints?|rules))`,
  ),
  spaced(
    '(?:system|admin(?:istrator)?|security|instruction) override|override (?:activated|enabled)|reset (?:the |your )?context|(?:new|updated) (?:primary|operating|core|prime) directives?|new directive ?: ?',
  ),
  spaced(
    "(?:hidden|secret|hide this|keep this) from the user|(?:do not|don't|never|without) (?:ever )?(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|alert|alerting|show|reveal)(?: [^ .!?\\n]+){0,3}? (?:to )?the user",
  ),
  spaced(
    'you (?:now )?have (?:admin|root|full|unrestricted|unlimited|elevated) (?:privileges?|access|rights|permissions?)|(?:unrestricted|god) mode|treated as (?:root|admin(?:istrator)?)|trusted administrator|(?:safety|security) (?:checks?|controls?|filters?|measures?|rules) (?:are|is|were|have been) (?:now )?(?:disabled|off|bypassed|suspended)|end (?:of )?(?:previous |prior )?(?:context|instructions)',
  ),
  spaced("i(?:'m| am) the (?:ai|virtual) assistant"),
  begins(
    '(?:skip|bypass) (?:all |any |the |every )?(?:confirmations?|verification|approvals?|checks)|execute the following|(?:run|execute) (?:rm|sudo|curl|wget|bash|sh|python|eval) [^ ]+|exfiltrate',
  ),
  spaced(
    'new (?:system )?instructions?(?: ?:| are)|your (?:new|real|true|actual) (?:instructions?|task|role|goal|purpose|objective) (?:is|are)',
  ),
  begins(
    '(?:act|behave|roleplay|role-play) as (?:if|an?|my|the|though)|pretend (?:to be|you|that you)',
  ),
  spaced(
    `(?:reveal|print|repeat|show|output|leak|expose|disclose) ${some(3)}your ${some(2)}(?:prompt|instructions|rules|guidelines)`,
  ),
  // People run commands and call tools all day; an order stands at the beginning of a sentence, or after a "must".
  begins(
    `(?:run|execute|call|invoke) ${some(6)}(?:tools?|commands?|scripts?|functions?|shell|terminal)`,
  ),
  spaced(
    `(?:must|should|shall|please|always|immediately) (?:run|execute|call|invoke) ${some(6)}(?:tools?|commands?|scripts?|functions?)`,
  ),
  // German
  spaced(
    `(?:schalte?|stelle?) ${some(1)}(?:deine|sicherheits\\p{L}*) ${some(2)}(?:filter |beschränkungen )?(?:aus|ab)|in den (?:unbeschränkten|uneingeschränkten|entwickler|admin) ?-?modus|(?:zeige?|verrate|gib|nenne) ${some(2)}deine[nr]? ${some(2)}(?:anweisungen|regeln|prompts?|instruktionen)|du bist (?:jetzt|nun) dan`,
  ),
  spaced(
    '(?:vergiss|ignoriere) (?:alles|sämtliches)|(?:umgehe|deaktiviere|ignoriere) (?:[^ .!?\\n]+ ){0,2}?(?:beschränkungen|filter|sicherheitsvorkehrungen|schutzmaßnahmen)',
  ),
  spaced(
    `(?:ignorier(?:e|t|en)?|missachte[nt]?|vergiss|vergesst|vergessen sie|übergeh(?:e|t)?|umgeh(?:e|t)?|befolge nicht|folge nicht) ${some(4)}(?:anweisung(?:en)?|instruktion(?:en)?|regeln|vorgaben|befehle?|prompts?|richtlinien)`,
  ),
  spaced(
    'ab (?:jetzt|sofort) (?:bist|antwortest|antworte|musst|sollst|wirst|verhalte|agiere|tust) (?:du|dich|als|immer|nur)|du bist (?:jetzt|nun|nicht mehr) (?:ein|eine|kein|keine|im|der|die|an)',
  ),
  begins('verhalte dich (?:wie|als)|tu so,? als|spiele? die rolle|gib vor,'),
  begins(
    `(?:führe?|rufe?|starte) ${some(5)}(?:befehle?|werkzeuge?|tools?|skripte?|kommandos?|funktion) (?:aus|auf)`,
  ),
  // Spanish
  spaced(
    `desactiv(?:a|e) ${some(1)}tus ${some(2)}(?:filtros|restricciones|protocolos)|(?:muestra|revela|dime|repite) ${some(2)}tus ${some(1)}(?:instrucciones|reglas|prompt)|ahora eres dan|no tengas en cuenta`,
  ),
  spaced('(?:olvida|ignora|olvide|ignore) todo'),
  spaced(
    `(?:ignor(?:a|e|ad|en)|olvid(?:a|e|ad|en)|desobedece|omite|descarta|no sigas|no obedezcas) ${some(4)}(?:instruccion(?:es)?|instrucción|indicaciones|reglas|órdenes|directrices|mensajes?)`,
  ),
  spaced(
    '(?:a partir de ahora|desde ahora|de ahora en adelante),? (?:eres|serás|responde|debes|actúa|contesta|vas)|ahora eres (?:un|una|el|la)',
  ),
  begins('actúa como|finge (?:ser|que)|hazte pasar'),
  begins(`(?:ejecuta|llama|invoca|corre) ${some(6)}(?:comandos?|herramientas?|función|scripts?)`),
  // French
  spaced(
    `désactive[zr]? ${some(1)}(?:tes|vos) ${some(2)}(?:filtres?|restrictions?|protocoles?)|(?:montre|révèle|affiche|donne|répète)[sz]? ${some(2)}(?:tes|vos) ${some(1)}(?:instructions|consignes|règles)|tu es maintenant dan|ne (?:tiens|tenez) (?:pas|aucun) compte`,
  ),
  spaced('(?:oublie[zr]?|ignore[zr]?) tout(?: ce qui| ce que)?'),
  spaced(
    `(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|contourne[zr]?|ne (?:suis|suivez|respecte|respectez) pas) ${some(4)}(?:instructions?|consignes?|règles|directives?|ordres|messages?)`,
  ),
  spaced(
    '(?:à partir de maintenant|désormais|dorénavant),? (?:tu|vous|réponds|répondez|agis)|tu es maintenant (?:un|une|le|la|en)',
  ),
  begins('agis comme|comporte-toi|fais semblant|fais comme si'),
  begins(
    `(?:exécute[zr]?|lance[zr]?|appelle[zr]?|invoque[zr]?) ${some(6)}(?:commandes?|outils?|fonction|scripts?)`,
  ),
  // Portuguese
  spaced(
    `desativ(?:a|e) ${some(1)}(?:seus|teus|suas|tuas) ${some(2)}(?:filtros|restrições|protocolos)|(?:mostre|revele|diga|repita) ${some(2)}suas ${some(1)}(?:instruções|regras)|não (?:leve|tenha) em conta`,
  ),
  spaced('(?:esqueça|esquece|ignore|ignora) tudo'),
  spaced(
    `(?:ignor(?:a|e|em)|esquec(?:e|a|am)|desconsider(?:a|e|em)|desrespeite|não sigas?|não obedeç[ae]s?) ${some(4)}(?:instruções|instrução|regras|ordens|diretrizes|comandos|mensagens|mensagem)`,
  ),
  spaced(
    '(?:a partir de agora|de agora em diante|doravante),? (?:você|tu|responda|responde|deve|aja|és|serás)|(?:você agora é|agora você é|agora és) (?:um|uma|o|a)',
  ),
  begins('aja como|age como|finja (?:ser|que)|finge (?:ser|que)'),
  begins(
    `(?:execut[ae]|corra|rode|cham[ae]|invoque) ${some(6)}(?:comandos?|ferramentas?|função|scripts?)`,
  ),
  // Chinese
  dense(
    '(?:忽略|忘记|忘掉|无视).{0,6}(?:以上|之前|上面|前面).{0,4}(?:一切|所有|内容|全部)|(?:解除|取消|绕过).{0,8}限制',
  ),
  dense(
    '(?:忽略|无视|忽视|不要理会|不要遵守|不要遵循|忘记|忘掉|忘了|抛开|绕过).{0,12}(?:指令|指示|提示词|提示|规则|命令|要求|设定|约束)',
  ),
  dense(
    '从现在(?:开始|起),?(?:你|请|都|必须|一律)|你现在是(?:一|个)|你不再是|扮演.{0,10}(?:角色|助手|ai)|假装(?:你|自己)是',
  ),
  dense('(?:^|[。！？,，\\n]|请|必须|立即|马上)(?:运行|执行|调用).{0,12}(?:工具|命令|脚本|函数)'),
  // Japanese
  dense(
    '(?:上記|以前|これまで|今まで).{0,6}(?:内容|会話|こと|すべて|全て).{0,4}(?:無視|忘れ)|制限(?:を|は)(?:解除|無視|すべて)',
  ),
  dense(
    '(?:以前|これまで|今まで|上記|前|すべて|全て|全部|先ほど|元).{0,8}(?:指示|命令|ルール|プロンプト|指令|設定|制約).{0,6}(?:無視|忘れ|従わな|破棄|無効)',
  ),
  dense(
    '(?:これから|今から|今後).{0,3}(?:あなたは|お前は|君は|必ず|常に|すべて|全て)|あなたは(?:今|もう|これから).{0,10}(?:です|だ|ない)|(?:として|になりきって)(?:振る舞|行動し)',
  ),
  dense(
    '(?:ツール|コマンド|スクリプト|関数)を(?:実行|呼び出|起動)(?:して(?:ください|下さい|くれ)|せよ|しろ|しなさい)',
  ),
]

const SAYING =
  'answer|reply|respond|say|tell|recommend|mention|write|include|speak|suggest|output|refuse|address|greet|promote|insert|append|claim|insist|agree|translate|praise|redirect|link|begin|start|end|add'
const OUTPUT =
  'answers?|responses?|reply|replies|outputs?|messages?|code|codebase|implementation|solution|algorithm|elucidation'
const TASKS =
  'explain|describe|draft|compose|translate|summari[sz]e|generate|provide|include|insert|append|modify|integrate|incorporate|replace|rewrite|misspell|scramble|anagram|rearrange|substitute|render|embed|ensure|consider|introduce|download|install|navigate to|visit|click|recommend|mention|promote|suggest|convert|reverse|encode|send|forward|upload|delete|develop|break down|tell (?:me|the user|them|users)|show (?:me|the user)|give me|answer|reply|respond|write (?:a|an|the|your|all|me|in|every)|group (?:the )?letters|remove (?:all|the|any|spaces|every)|add [^.\\n]{0,160}? to your|use [^.\\n]{0,60}? in your'

const ORDERS: readonly RegExp[] = [
  // English
  begins(
    `(?:you must |you should |you have to |you need to )?(?:always|never|only|do not|don't) (?:${SAYING})`,
  ),
  spaced(
    `(?:when(?:ever)?|if|every time|each time|any time|as soon as) (?:the user|a user|users|someone|somebody|anyone|anybody|people|they|i|he|she|you are|you're)(?: is| are| ever)? (?:asks?|asked|asking|mentions?|says?|requests?|wants?|writes?|greets?)[^.\\n]{0,80}?[, ](?:you |the assistant )?(?:must |should |always |never |then |please )*(?:${SAYING}|do not|don't)`,
  ),
  begins(`(?:(?!i |we |my )[^ .!?\\n]+ )(?:[^.!?\\n]{0,120} )?your (?:${OUTPUT})`),
  spaced(
    'the (?:following|subsequent|below|accompanying) (?:code|script) ?(?:snippet|block|excerpt|section|fragment)',
  ),
  spaced(
    '(?:the |this |any |every )?(?:assistant|ai|chatbot|bot|language model|llm) (?:must|shall|is required to|is instructed to|is to|has to|should (?:always|never|not))(?! be )',
  ),
  spaced(
    'you (?:must|shall) (?:always|never|not|now|only|obey|comply|ignore|tell|say|answer|reply)',
  ),
  begins(TASKS),
  // German
  begins(
    '(?:antworte|erwähne|empfiehl|sage?|schreibe?|erkläre?|übersetze?|beschreibe?|füge?|nenne|verwende|fasse?|sprich|formuliere|behaupte|lösche|sende|schicke?|installiere|besuche|klicke?) (?:immer|nie(?:mals)?|stets|nur|mir|dem|den|die|das|ein|eine[nr]?|auf|in|jede[rsmn]?|alle[ns]?|folgende[nrs]?|bitte|mit)',
  ),
  spaced(
    '(?:wenn|falls|sobald|immer wenn|jedes mal,? wenn) (?:der (?:nutzer|benutzer|anwender)|die nutzerin|jemand|man|ich|er|sie|du)[^.\\n]{0,60}?(?:fragt|frage|wirst|erwähnt|bittet|sagt|schreibt|will)(?: wirst)?,? ?(?:dann )?(?:antworte|sage?|empfiehl|erwähne|schreibe?|nenne|behaupte|füge|musst|sollst)',
  ),
  spaced(
    '(?:in|zu) deine[rnm]? (?:antwort(?:en)?|ausgaben?|code|lösung|nachricht)|(?:der assistent|die ki|der bot) (?:muss|soll|darf)|du (?:musst|sollst|darfst) (?:immer|nie|niemals|nur|stets|nicht|jetzt|antworten)',
  ),
  // Spanish
  begins(
    '(?:responde|contesta|di|dile|menciona|recomienda|escribe|explica|traduce|describe|añade|incluye|agrega|usa|resume|habla|borra|envía|instala|visita|descarga) (?:siempre|nunca|solo|sólo|al|a la|el|la|los|las|un|una|en|que|me|con|esto|este|lo)',
  ),
  begins(
    '(?:siempre|nunca) (?:responde|contesta|di|menciones|respondas|digas|recomienda|escribe|incluye)',
  ),
  spaced(
    '(?:cuando|si|cada vez que|siempre que) (?:el usuario|la usuaria|alguien|te|un usuario)[^.\\n]{0,60}?(?:pregunt[ae]n?|pid[ae]n?|mencion[ae]|diga|dice|escrib[ae])[^.\\n]{0,60}?[, ](?:responde|contesta|di|dile|recomienda|menciona|debes)',
  ),
  spaced(
    'en tus? (?:respuestas?|mensajes?|código|solución)|(?:el asistente|la ia|el bot) (?:debe|tiene que)|(?:debes|tienes que) (?:siempre|nunca|responder|decir|ignorar|obedecer)',
  ),
  // French
  begins(
    "(?:réponds|répondez|dis|dites|mentionne[zr]?|recommande[zr]?|écris|écrivez|explique[zr]?|tradui(?:s|sez)|décri(?:s|vez)|ajoute[zr]?|inclu(?:s|ez)|utilise[zr]?|résume[zr]?|parle[zr]?|supprime[zr]?|envoie|envoyez|installe[zr]?|visite[zr]?|télécharge[zr]?) (?:toujours|jamais|seulement|uniquement|à|au|le|la|les|l'|un|une|en|que|moi|dans|ce|cette)",
  ),
  begins('ne (?:réponds|dis|mentionne|répondez|dites) (?:jamais|pas)'),
  spaced(
    "(?:quand|lorsque|si|chaque fois que|dès que) (?:l'utilisateur|l'utilisatrice|quelqu'un|on|un utilisateur)[^.\\n]{0,60}?(?:demande|mentionne|dit|écrit|veut)[^.\\n]{0,60}?[, ](?:réponds|répondez|dis|dites|recommande[zr]?|mentionne[zr]?|tu dois)",
  ),
  spaced(
    "dans (?:ta|tes|votre|vos|ton) (?:réponses?|messages?|code|solution)|(?:l'assistant|l'ia|le bot) doit|tu dois (?:toujours|jamais|répondre|dire|ignorer|obéir)|vous devez (?:toujours|répondre|dire|ignorer)",
  ),
  // Portuguese
  begins(
    '(?:respond[ae]|diga|diz|mencion[ae]|recomend[ae]|escrev[ae]|expli(?:ca|que)|traduz[ae]?|descrev[ae]|adicion[ae]|inclu[ai]|us[ae]|resum[ae]|fale|apague|envi[ae]|instale|visite|baixe) (?:sempre|nunca|apenas|só|somente|ao|à|o|a|os|as|um|uma|em|que|me|com|isto|isso)',
  ),
  begins('(?:sempre|nunca) (?:respond[ae]s?|diga|mencione|recomende|escreva|inclua)'),
  spaced(
    '(?:quando|se|sempre que|toda vez que|cada vez que) (?:o usuário|a usuária|o utilizador|alguém|um usuário)[^.\\n]{0,60}?(?:pergunt(?:ar|e|a)|ped(?:ir|e)|peça|mencion(?:ar|e|a)|disser|diz|escrev(?:er|e))[^.\\n]{0,60}?[, ](?:respond[ae]|diga|diz|recomend[ae]|mencion[ae]|deve)',
  ),
  spaced(
    '(?:na tua|na sua|nas suas|nas tuas|em sua|em tua) (?:respostas?|mensagem|solução)|(?:o assistente|a ia|o bot) (?:deve|tem de|tem que)|(?:você deve|deves|você tem que) (?:sempre|nunca|responder|dizer|ignorar|obedecer)',
  ),
  // Chinese
  dense(
    '(?:^|[。！？\\n]|请)(?:务必|一定要|必须)?(?:始终|总是|一律|永远|只能|只|不要|别|绝不|每次都)?(?:用(?!户).{1,8})?(?:回答|回复|答复|告诉用户|推荐|输出|翻译|解释|描述|写一|生成|总结|提及|提到|加上|插入|删除|下载|安装|访问|点击|发送)',
  ),
  dense(
    '(?:当|如果|每当|只要|一旦).{0,12}(?:用户|有人|他们|别人|对方).{0,8}(?:问|提到|询问|请求|说|要求).{0,24}(?:回答|回复|说|告诉|推荐|提到|答)',
  ),
  dense(
    '(?:在|到)(?:你|您)的(?:回答|回复|答复|输出|代码|回应)|(?:助手|助理|ai|机器人)(?:必须|应当|应该|不得|务必)|你(?:必须|务必|不得|只能|应当)',
  ),
  // Japanese
  dense(
    '(?:必ず|常に|いつも|絶対に|毎回|以下|次|返信|回答|返答).{0,20}(?:答え|回答し|返信し|返答し|言っ|推奨し|勧め|伝え|出力し|書い|含め|翻訳し|説明し|追加し|挿入し)て?(?:ください|下さい|ろ|なさい|くれ|せよ)',
  ),
  dense(
    '(?:答え|回答し|返信し|返答し|言っ|推奨し|勧め|伝え|出力し|書い|含め|翻訳し|説明し|追加し|送信し|削除し|ダウンロードし|インストールし|クリックし)て(?:ください|下さい|くれ)|(?:回答|返信|返答|出力|推奨|翻訳|説明)(?:せよ|しろ|しなさい|すること)',
  ),
  dense(
    '(?:ユーザー|利用者|誰か|相手).{0,10}(?:聞いたら|聞かれたら|尋ねたら|質問したら|言ったら|聞いた場合|尋ねた場合|質問した場合|たずねたら)',
  ),
  dense(
    '(?:アシスタント|ai|ボット)は.{0,20}(?:なければならない|ねばならない|べきだ|べきである|てはならない|てはいけない)|あなたの(?:回答|返信|返答|出力|コード)に',
  ),
]
