/**
 * Detects instructions to the assistant. Memories are inserted into later prompts, so a stored instruction would let one
 * message control all later ones.
 *
 * Rules cannot know the intent of a sentence. Matches wait for review; nothing is deleted because of them.
 */

import { clipMessage, normalizeText } from './speech/message-text.ts'

/** Whether a text tries to override the instructions of the model. */
export function isInstructionOverride(text: string): boolean {
  return matchesAny(OVERRIDES, normalizeForDetection(text))
}

/** An override, or a text about system prompts and similar internals. Such messages must not be stored without review. */
export function isPromptInjection(text: string): boolean {
  const normalized = normalizeForDetection(text)
  return matchesAny(OVERRIDES, normalized) || matchesAny(MENTIONS, normalized)
}

/** A prompt injection, or an order to the assistant: normal in a message, wrong in a fact. */
export function isAssistantInstruction(text: string): boolean {
  return isPromptInjection(text) || matchesAny(ORDERS, normalizeForDetection(text))
}

function matchesAny(patterns: readonly RegExp[], normalized: string): boolean {
  return patterns.some((pattern) => pattern.test(normalized))
}

/** Normalizes a bounded part of the text. Line breaks stay, because role labels begin lines. */
function normalizeForDetection(text: string): string {
  return stripAccents(normalizeText(clipMessage(text))).replace(/[^\S\n]+/g, ' ')
}

/** Accents are often omitted, sometimes to evade detection. Latin letters only: the marks of kana are no accents. */
function stripAccents(text: string): string {
  return text
    .normalize('NFD')
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, '')
    .normalize('NFC')
}

/** A phrase at word boundaries. */
const phrase = (source: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${stripAccents(source)})(?![\\p{L}\\p{N}])`, 'u')

/** A phrase in Chinese or Japanese, which have no word boundaries. */
const cjkPhrase = (source: string) => new RegExp(source, 'u')

/** A phrase at the beginning of a sentence, optionally after words such as "please". */
const sentenceStart = (source: string) =>
  new RegExp(
    `(?:^|[.!?;:。！？\\n"“«>-] ?)(?:please,? |kindly |bitte |por favor,? |s'il (?:te|vous) plait,? |assistant[,:] |now,? |and |then |also )*(?:${stripAccents(source)})(?![\\p{L}\\p{N}])`,
    'u',
  )

/** Up to `count` words in between. */
const upToWords = (count: number) => `(?:[^ .!?\\n]+ ){0,${count}}?`

const ROLE = 'system|assistant|developer|tool|function|instructions?'

/** A role label at the beginning of a line. */
function buildRoleLinePattern(roles: string): RegExp {
  return new RegExp(
    `(?:^|\\n|[.!?>] |<!-- ?) ?(?:#{1,4} ?|\\*\\*)?(?:${roles})(?:\\*\\*)? ?: ?\\S`,
    'u',
  )
}

/** Markup that delimits prompts, in any language. */
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

/** Terms that only developers of assistants and attackers use. */
const MENTIONS: readonly RegExp[] = [
  buildRoleLinePattern('assistant|human'),
  /(?:bypass|override|admin|safety|unrestricted|jailbreak)[a-z_]* ?= ?(?:true|1|on|yes)/u,
  phrase('(?:admin|sudo|debug) mode'),
  phrase(
    'system (?:prompt|message|instructions?)|developer (?:message|prompt|mode)|jailbreak|dan mode',
  ),
  phrase(
    'system-?prompts?|systemnachricht|systemanweisung(?:en)?|entwicklernachricht|entwicklermodus',
  ),
  phrase(
    '(?:prompt|mensaje|instrucciones) (?:de|del) (?:sistema|desarrollador)|modo desarrollador',
  ),
  phrase(
    '(?:prompt|invite|message|instructions?) (?:du )?(?:système|développeur)|mode développeur',
  ),
  phrase(
    '(?:prompt|mensagem|instruções) (?:de|do) (?:sistema|desenvolvedor|programador)|modo (?:de )?desenvolvedor',
  ),
  cjkPhrase('系统(?:提示词?|消息|指令)|开发者(?:消息|模式|指令)|越狱模式'),
  cjkPhrase('システム(?:プロンプト|メッセージ|指示)|開発者(?:メッセージ|モード)'),
]

const OVERRIDES: readonly RegExp[] = [
  ...MARKS,
  // English
  phrase(
    `(?:ignore|disregard|forget|override|bypass|neglect|abandon|discard|set aside|put aside|(?:do not|don't|stop|never) (?:follow|following|obey|obeying)) ${upToWords(4)}(?:previous|prior|above|earlier|preceding|all|any|your|the|these|those|system|developer|foregoing)(?: [^ .!?\\n]+){0,3}? (?:instructions?|prompts?|rules|guidelines|directions|commands|directives|orders|policies|messages?)|your (?:previous|prior|original|initial|old|former|current) (?:instructions?|guidelines|rules|orders|programming)`,
  ),
  phrase("(?:do not|don't) (?:follow|obey|listen to) (?:the )?(?:system|developer)"),
  phrase(
    'from now on,? (?:you|the assistant|act|answer|respond|reply|always|never)|you are (?:now|no longer) (?:an?|the|in|dan|bound|free|restricted|unrestricted|unfiltered|uncensored|allowed)|do anything now',
  ),
  phrase(
    `(?:ignore|disregard|forget|discard|drop) ${upToWords(2)}(?:everything|anything|all|whatever)(?: that| which)? (?:above|before|prior|previous|said|written|you (?:were|have been|know|learned|are) ?(?:told|taught)?|i (?:said|told)|stated|up to)`,
  ),
  phrase(
    `(?:ignore|disregard|forget|override|overrule|bypass|circumvent|disable|remove|lift|turn off|deactivate) (?:(?:your|all|any|every|its|these|safety) ${upToWords(2)}(?:restrictions?|safety|safeguards?|guardrails?|protocols?|programming|limitations?|censorship)|${upToWords(2)}(?:your|safety|content|security|moderation) ${upToWords(1)}(?:filters?|training|constraints?|rules))`,
  ),
  phrase(
    '(?:system|admin(?:istrator)?|security|instruction) override|override (?:activated|enabled)|reset (?:the |your )?context|(?:new|updated) (?:primary|operating|core|prime) directives?|new directive ?: ?',
  ),
  phrase(
    "(?:hidden|secret|hide this|keep this) from the user|(?:do not|don't|never|without) (?:ever )?(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|alert|alerting|show|reveal)(?: [^ .!?\\n]+){0,3}? (?:to )?the user",
  ),
  phrase(
    'you (?:now )?have (?:admin|root|full|unrestricted|unlimited|elevated) (?:privileges?|access|rights|permissions?)|(?:unrestricted|god) mode|treated as (?:root|admin(?:istrator)?)|trusted administrator|(?:safety|security) (?:checks?|controls?|filters?|measures?|rules) (?:are|is|were|have been) (?:now )?(?:disabled|off|bypassed|suspended)|end (?:of )?(?:previous |prior )?(?:context|instructions)',
  ),
  phrase("i(?:'m| am) the (?:ai|virtual) assistant"),
  sentenceStart(
    '(?:skip|bypass) (?:all |any |the |every )?(?:confirmations?|verification|approvals?|checks)|execute the following|(?:run|execute) (?:rm|sudo|curl|wget|bash|sh|python|eval) [^ ]+|exfiltrate',
  ),
  phrase(
    'new (?:system )?instructions?(?: ?:| are)|your (?:new|real|true|actual) (?:instructions?|task|role|goal|purpose|objective) (?:is|are)',
  ),
  sentenceStart(
    '(?:act|behave|roleplay|role-play) as (?:if|an?|my|the|though)|pretend (?:to be|you|that you)',
  ),
  phrase(
    `(?:reveal|print|repeat|show|output|leak|expose|disclose) ${upToWords(3)}your ${upToWords(2)}(?:prompt|instructions|rules|guidelines)`,
  ),
  // Users talk about commands and tools all day; an order begins the sentence or follows a "must".
  sentenceStart(
    `(?:run|execute|call|invoke) ${upToWords(6)}(?:tools?|commands?|scripts?|functions?|shell|terminal)`,
  ),
  phrase(
    `(?:must|should|shall|please|always|immediately) (?:run|execute|call|invoke) ${upToWords(6)}(?:tools?|commands?|scripts?|functions?)`,
  ),
  // German
  phrase(
    `(?:schalte?|stelle?) ${upToWords(1)}(?:deine|sicherheits\\p{L}*) ${upToWords(2)}(?:filter |beschränkungen )?(?:aus|ab)|in den (?:unbeschränkten|uneingeschränkten|entwickler|admin) ?-?modus|(?:zeige?|verrate|gib|nenne) ${upToWords(2)}deine[nr]? ${upToWords(2)}(?:anweisungen|regeln|prompts?|instruktionen)|du bist (?:jetzt|nun) dan`,
  ),
  phrase(
    '(?:vergiss|ignoriere) (?:alles|sämtliches)|(?:umgehe|deaktiviere|ignoriere) (?:[^ .!?\\n]+ ){0,2}?(?:beschränkungen|filter|sicherheitsvorkehrungen|schutzmaßnahmen)',
  ),
  phrase(
    `(?:ignorier(?:e|t|en)?|missachte[nt]?|vergiss|vergesst|vergessen sie|übergeh(?:e|t)?|umgeh(?:e|t)?|befolge nicht|folge nicht) ${upToWords(4)}(?:anweisung(?:en)?|instruktion(?:en)?|regeln|vorgaben|befehle?|prompts?|richtlinien)`,
  ),
  phrase(
    'ab (?:jetzt|sofort) (?:bist|antwortest|antworte|musst|sollst|wirst|verhalte|agiere|tust) (?:du|dich|als|immer|nur)|du bist (?:jetzt|nun|nicht mehr) (?:ein|eine|kein|keine|im|der|die|an)',
  ),
  sentenceStart('verhalte dich (?:wie|als)|tu so,? als|spiele? die rolle|gib vor,'),
  sentenceStart(
    `(?:führe?|rufe?|starte) ${upToWords(5)}(?:befehle?|werkzeuge?|tools?|skripte?|kommandos?|funktion) (?:aus|auf)`,
  ),
  // Spanish
  phrase(
    `desactiv(?:a|e) ${upToWords(1)}tus ${upToWords(2)}(?:filtros|restricciones|protocolos)|(?:muestra|revela|dime|repite) ${upToWords(2)}tus ${upToWords(1)}(?:instrucciones|reglas|prompt)|ahora eres dan|no tengas en cuenta`,
  ),
  phrase('(?:olvida|ignora|olvide|ignore) todo'),
  phrase(
    `(?:ignor(?:a|e|ad|en)|olvid(?:a|e|ad|en)|desobedece|omite|descarta|no sigas|no obedezcas) ${upToWords(4)}(?:instruccion(?:es)?|instrucción|indicaciones|reglas|órdenes|directrices|mensajes?)`,
  ),
  phrase(
    '(?:a partir de ahora|desde ahora|de ahora en adelante),? (?:eres|serás|responde|debes|actúa|contesta|vas)|ahora eres (?:un|una|el|la)',
  ),
  sentenceStart('actúa como|finge (?:ser|que)|hazte pasar'),
  sentenceStart(
    `(?:ejecuta|llama|invoca|corre) ${upToWords(6)}(?:comandos?|herramientas?|función|scripts?)`,
  ),
  // French
  phrase(
    `désactive[zr]? ${upToWords(1)}(?:tes|vos) ${upToWords(2)}(?:filtres?|restrictions?|protocoles?)|(?:montre|révèle|affiche|donne|répète)[sz]? ${upToWords(2)}(?:tes|vos) ${upToWords(1)}(?:instructions|consignes|règles)|tu es maintenant dan|ne (?:tiens|tenez) (?:pas|aucun) compte`,
  ),
  phrase('(?:oublie[zr]?|ignore[zr]?) tout(?: ce qui| ce que)?'),
  phrase(
    `(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|contourne[zr]?|ne (?:suis|suivez|respecte|respectez) pas) ${upToWords(4)}(?:instructions?|consignes?|règles|directives?|ordres|messages?)`,
  ),
  phrase(
    '(?:à partir de maintenant|désormais|dorénavant),? (?:tu|vous|réponds|répondez|agis)|tu es maintenant (?:un|une|le|la|en)',
  ),
  sentenceStart('agis comme|comporte-toi|fais semblant|fais comme si'),
  sentenceStart(
    `(?:exécute[zr]?|lance[zr]?|appelle[zr]?|invoque[zr]?) ${upToWords(6)}(?:commandes?|outils?|fonction|scripts?)`,
  ),
  // Portuguese
  phrase(
    `desativ(?:a|e) ${upToWords(1)}(?:seus|teus|suas|tuas) ${upToWords(2)}(?:filtros|restrições|protocolos)|(?:mostre|revele|diga|repita) ${upToWords(2)}suas ${upToWords(1)}(?:instruções|regras)|não (?:leve|tenha) em conta`,
  ),
  phrase('(?:esqueça|esquece|ignore|ignora) tudo'),
  phrase(
    `(?:ignor(?:a|e|em)|esquec(?:e|a|am)|desconsider(?:a|e|em)|desrespeite|não sigas?|não obedeç[ae]s?) ${upToWords(4)}(?:instruções|instrução|regras|ordens|diretrizes|comandos|mensagens|mensagem)`,
  ),
  phrase(
    '(?:a partir de agora|de agora em diante|doravante),? (?:você|tu|responda|responde|deve|aja|és|serás)|(?:você agora é|agora você é|agora és) (?:um|uma|o|a)',
  ),
  sentenceStart('aja como|age como|finja (?:ser|que)|finge (?:ser|que)'),
  sentenceStart(
    `(?:execut[ae]|corra|rode|cham[ae]|invoque) ${upToWords(6)}(?:comandos?|ferramentas?|função|scripts?)`,
  ),
  // Chinese
  cjkPhrase(
    '(?:忽略|忘记|忘掉|无视).{0,6}(?:以上|之前|上面|前面).{0,4}(?:一切|所有|内容|全部)|(?:解除|取消|绕过).{0,8}限制',
  ),
  cjkPhrase(
    '(?:忽略|无视|忽视|不要理会|不要遵守|不要遵循|忘记|忘掉|忘了|抛开|绕过).{0,12}(?:指令|指示|提示词|提示|规则|命令|要求|设定|约束)',
  ),
  cjkPhrase(
    '从现在(?:开始|起),?(?:你|请|都|必须|一律)|你现在是(?:一|个)|你不再是|扮演.{0,10}(?:角色|助手|ai)|假装(?:你|自己)是',
  ),
  cjkPhrase(
    '(?:^|[。！？,，\\n]|请|必须|立即|马上)(?:运行|执行|调用).{0,12}(?:工具|命令|脚本|函数)',
  ),
  // Japanese
  cjkPhrase(
    '(?:上記|以前|これまで|今まで).{0,6}(?:内容|会話|こと|すべて|全て).{0,4}(?:無視|忘れ)|制限(?:を|は)(?:解除|無視|すべて)',
  ),
  cjkPhrase(
    '(?:以前|これまで|今まで|上記|前|すべて|全て|全部|先ほど|元).{0,8}(?:指示|命令|ルール|プロンプト|指令|設定|制約).{0,6}(?:無視|忘れ|従わな|破棄|無効)',
  ),
  cjkPhrase(
    '(?:これから|今から|今後).{0,3}(?:あなたは|お前は|君は|必ず|常に|すべて|全て)|あなたは(?:今|もう|これから).{0,10}(?:です|だ|ない)|(?:として|になりきって)(?:振る舞|行動し)',
  ),
  cjkPhrase(
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
  sentenceStart(
    `(?:you must |you should |you have to |you need to )?(?:always|never|only|do not|don't) (?:${SAYING})`,
  ),
  phrase(
    `(?:when(?:ever)?|if|every time|each time|any time|as soon as) (?:the user|a user|users|someone|somebody|anyone|anybody|people|they|i|he|she|you are|you're)(?: is| are| ever)? (?:asks?|asked|asking|mentions?|says?|requests?|wants?|writes?|greets?)[^.\\n]{0,80}?[, ](?:you |the assistant )?(?:must |should |always |never |then |please )*(?:${SAYING}|do not|don't)`,
  ),
  sentenceStart(`(?:(?!i |we |my )[^ .!?\\n]+ )(?:[^.!?\\n]{0,120} )?your (?:${OUTPUT})`),
  phrase(
    'the (?:following|subsequent|below|accompanying) (?:code|script) ?(?:snippet|block|excerpt|section|fragment)',
  ),
  phrase(
    '(?:the |this |any |every )?(?:assistant|ai|chatbot|bot|language model|llm) (?:must|shall|is required to|is instructed to|is to|has to|should (?:always|never|not))(?! be )',
  ),
  phrase(
    'you (?:must|shall) (?:always|never|not|now|only|obey|comply|ignore|tell|say|answer|reply)',
  ),
  sentenceStart(TASKS),
  // German
  sentenceStart(
    '(?:antworte|erwähne|empfiehl|sage?|schreibe?|erkläre?|übersetze?|beschreibe?|füge?|nenne|verwende|fasse?|sprich|formuliere|behaupte|lösche|sende|schicke?|installiere|besuche|klicke?) (?:immer|nie(?:mals)?|stets|nur|mir|dem|den|die|das|ein|eine[nr]?|auf|in|jede[rsmn]?|alle[ns]?|folgende[nrs]?|bitte|mit)',
  ),
  phrase(
    '(?:wenn|falls|sobald|immer wenn|jedes mal,? wenn) (?:der (?:nutzer|benutzer|anwender)|die nutzerin|jemand|man|ich|er|sie|du)[^.\\n]{0,60}?(?:fragt|frage|wirst|erwähnt|bittet|sagt|schreibt|will)(?: wirst)?,? ?(?:dann )?(?:antworte|sage?|empfiehl|erwähne|schreibe?|nenne|behaupte|füge|musst|sollst)',
  ),
  phrase(
    '(?:in|zu) deine[rnm]? (?:antwort(?:en)?|ausgaben?|code|lösung|nachricht)|(?:der assistent|die ki|der bot) (?:muss|soll|darf)|du (?:musst|sollst|darfst) (?:immer|nie|niemals|nur|stets|nicht|jetzt|antworten)',
  ),
  // Spanish
  sentenceStart(
    '(?:responde|contesta|di|dile|menciona|recomienda|escribe|explica|traduce|describe|añade|incluye|agrega|usa|resume|habla|borra|envía|instala|visita|descarga) (?:siempre|nunca|solo|sólo|al|a la|el|la|los|las|un|una|en|que|me|con|esto|este|lo)',
  ),
  sentenceStart(
    '(?:siempre|nunca) (?:responde|contesta|di|menciones|respondas|digas|recomienda|escribe|incluye)',
  ),
  phrase(
    '(?:cuando|si|cada vez que|siempre que) (?:el usuario|la usuaria|alguien|te|un usuario)[^.\\n]{0,60}?(?:pregunt[ae]n?|pid[ae]n?|mencion[ae]|diga|dice|escrib[ae])[^.\\n]{0,60}?[, ](?:responde|contesta|di|dile|recomienda|menciona|debes)',
  ),
  phrase(
    'en tus? (?:respuestas?|mensajes?|código|solución)|(?:el asistente|la ia|el bot) (?:debe|tiene que)|(?:debes|tienes que) (?:siempre|nunca|responder|decir|ignorar|obedecer)',
  ),
  // French
  sentenceStart(
    "(?:réponds|répondez|dis|dites|mentionne[zr]?|recommande[zr]?|écris|écrivez|explique[zr]?|tradui(?:s|sez)|décri(?:s|vez)|ajoute[zr]?|inclu(?:s|ez)|utilise[zr]?|résume[zr]?|parle[zr]?|supprime[zr]?|envoie|envoyez|installe[zr]?|visite[zr]?|télécharge[zr]?) (?:toujours|jamais|seulement|uniquement|à|au|le|la|les|l'|un|une|en|que|moi|dans|ce|cette)",
  ),
  sentenceStart('ne (?:réponds|dis|mentionne|répondez|dites) (?:jamais|pas)'),
  phrase(
    "(?:quand|lorsque|si|chaque fois que|dès que) (?:l'utilisateur|l'utilisatrice|quelqu'un|on|un utilisateur)[^.\\n]{0,60}?(?:demande|mentionne|dit|écrit|veut)[^.\\n]{0,60}?[, ](?:réponds|répondez|dis|dites|recommande[zr]?|mentionne[zr]?|tu dois)",
  ),
  phrase(
    "dans (?:ta|tes|votre|vos|ton) (?:réponses?|messages?|code|solution)|(?:l'assistant|l'ia|le bot) doit|tu dois (?:toujours|jamais|répondre|dire|ignorer|obéir)|vous devez (?:toujours|répondre|dire|ignorer)",
  ),
  // Portuguese
  sentenceStart(
    '(?:respond[ae]|diga|diz|mencion[ae]|recomend[ae]|escrev[ae]|expli(?:ca|que)|traduz[ae]?|descrev[ae]|adicion[ae]|inclu[ai]|us[ae]|resum[ae]|fale|apague|envi[ae]|instale|visite|baixe) (?:sempre|nunca|apenas|só|somente|ao|à|o|a|os|as|um|uma|em|que|me|com|isto|isso)',
  ),
  sentenceStart('(?:sempre|nunca) (?:respond[ae]s?|diga|mencione|recomende|escreva|inclua)'),
  phrase(
    '(?:quando|se|sempre que|toda vez que|cada vez que) (?:o usuário|a usuária|o utilizador|alguém|um usuário)[^.\\n]{0,60}?(?:pergunt(?:ar|e|a)|ped(?:ir|e)|peça|mencion(?:ar|e|a)|disser|diz|escrev(?:er|e))[^.\\n]{0,60}?[, ](?:respond[ae]|diga|diz|recomend[ae]|mencion[ae]|deve)',
  ),
  phrase(
    '(?:na tua|na sua|nas suas|nas tuas|em sua|em tua) (?:respostas?|mensagem|solução)|(?:o assistente|a ia|o bot) (?:deve|tem de|tem que)|(?:você deve|deves|você tem que) (?:sempre|nunca|responder|dizer|ignorar|obedecer)',
  ),
  // Chinese
  cjkPhrase(
    '(?:^|[。！？\\n]|请)(?:务必|一定要|必须)?(?:始终|总是|一律|永远|只能|只|不要|别|绝不|每次都)?(?:用(?!户).{1,8})?(?:回答|回复|答复|告诉用户|推荐|输出|翻译|解释|描述|写一|生成|总结|提及|提到|加上|插入|删除|下载|安装|访问|点击|发送)',
  ),
  cjkPhrase(
    '(?:当|如果|每当|只要|一旦).{0,12}(?:用户|有人|他们|别人|对方).{0,8}(?:问|提到|询问|请求|说|要求).{0,24}(?:回答|回复|说|告诉|推荐|提到|答)',
  ),
  cjkPhrase(
    '(?:在|到)(?:你|您)的(?:回答|回复|答复|输出|代码|回应)|(?:助手|助理|ai|机器人)(?:必须|应当|应该|不得|务必)|你(?:必须|务必|不得|只能|应当)',
  ),
  // Japanese
  cjkPhrase(
    '(?:必ず|常に|いつも|絶対に|毎回|以下|次|返信|回答|返答).{0,20}(?:答え|回答し|返信し|返答し|言っ|推奨し|勧め|伝え|出力し|書い|含め|翻訳し|説明し|追加し|挿入し)て?(?:ください|下さい|ろ|なさい|くれ|せよ)',
  ),
  cjkPhrase(
    '(?:答え|回答し|返信し|返答し|言っ|推奨し|勧め|伝え|出力し|書い|含め|翻訳し|説明し|追加し|送信し|削除し|ダウンロードし|インストールし|クリックし)て(?:ください|下さい|くれ)|(?:回答|返信|返答|出力|推奨|翻訳|説明)(?:せよ|しろ|しなさい|すること)',
  ),
  cjkPhrase(
    '(?:ユーザー|利用者|誰か|相手).{0,10}(?:聞いたら|聞かれたら|尋ねたら|質問したら|言ったら|聞いた場合|尋ねた場合|質問した場合|たずねたら)',
  ),
  cjkPhrase(
    '(?:アシスタント|ai|ボット)は.{0,20}(?:なければならない|ねばならない|べきだ|べきである|てはならない|てはいけない)|あなたの(?:回答|返信|返答|出力|コード)に',
  ),
]
