/** Cuts off what follows a statement in its clause: interjections, thanks, questions and requests without a verb of their own. */

const INTERJECTIONS =
  "lol|lmao|rofl|haha+|hehe+|jaja+|kkk+|mdr|ptdr|ugh+|sigh|btw|tbh|imo|imho|fyi|ngl|smh|omg|thx|thanks(?: a lot| so much)?|thank you|ty|cheers|pls|plz|please|sorry|yay|yikes|argh+|meh|xd|oops|phew|whoop\\S*|woo+(?:hoo)?|wow|damn|sadly|luckily|unfortunately|of course|obviously|though|tho|anyway|anyways|by the way|just so you know|for context|for the record|if that (?:helps|matters)|if you (?:wonder|care|must know|were wondering)|in case (?:you wonder|it matters|that helps)|you know|as you know|i think|i guess|haha|finally|at last|wish me luck|right|ok|okay|yes|no joke|long story|don't ask|übrigens|leider|zum glück|endlich|halt|danke|bitte|nur so|por cierto|por fin|gracias|por favor|por desgracia|por suerte|aliás|enfim|finalmente|obrigad[oa]|por favor|infelizmente|felizmente|au fait|enfin|merci|malheureusement|heureusement|voilà|du coup|quoi|s'il te plaît|stp"
const MARK = '(?:\\s*[,;:.…!(–—~]+\\s*|\\s+-+\\s+)'

const SPACED_TAILS: readonly RegExp[] = [
  new RegExp(`(?:${MARK}|\\s+)(?:${INTERJECTIONS})(?:${MARK}|\\s|[!.)])*$`, 'iu'),
  // An emoji or an emoticon, and whatever decorates it.
  /[\s,;–—-]*(?:[:;]-?[)(dp/|]|<3|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u{FE0F}|\u{200D})+[\s.!]*$/iu,
  // "…, so what should I cook", "… - any ideas"
  new RegExp(
    `${MARK}(?:(?:so|and|but|then|now|hence|therefore|also|or|thus|y|e|et|und|pues|entonces|así que|então|por isso|donc|alors|also|daher|deshalb|o|ou|oder)\\s+)*(?:what|what's|how|how's|which|where|who|why|when|any|anything|anyone|can|could|would|should|shall|is (?:it|that|there|this)|are (?:there|they|we|you)|do (?:you|i|we)|does|did|will|am i|have you|suggest\\S*|recommend\\S*|ideas?|thoughts|tips|advice|help|give|show|find|plan|tell|explain|let|keep|make|write|need|needs|looking for|trying to|hoping|wondering|not sure|maybe|perhaps|please|pls|no (?:\\p{L}+ )?please|don't (?:suggest|give|recommend|use|forget)|skip|avoid|remind|book|order|hence|thus|therefore|so (?:no|please|nothing|maybe|keep|skip|i need|i want|i'd|i'll need|we need|that)|was|wie|wer|wann|wo|welche\\p{L}*|warum|kannst|könntest|soll|sollte|gibt|hast du|irgendwelche|empfiehl|schlag|hilf|brauche|bitte|tipps|ideen|vorschläge|qué|cómo|cuál\\p{L}*|dónde|cuándo|puedes|podrías|debería|me (?:recomiendas|ayudas|recomendas|ajuda)|alguna|algún|necesito|ideas|recomi\\p{L}+|sugi\\p{L}+|o que|qual|quais|onde|quando|como|pode|podes|poderia|devo|alguma|algum|preciso|dicas|recomend\\p{L}+|que|quoi|quel\\p{L}*|comment|où|quand|combien|peux-tu|tu peux|pourrais-tu|dois-je|des idées|une idée|tu as|conseille\\p{L}*|recommande\\p{L}*|aide|besoin)(?![\\p{L}]).*$`,
    'isu',
  ),
  // "… and need a good dentist"
  /(?:\s*[,;–—-]+\s*|\s+)(?:(?:and|but|so|und|y|e|et|aber|mais|mas|pero)\s+)?(?:(?:i|we|ich|wir|yo|eu|je|j')\s*)?(?:(?:really |desperately |now |just |also |currently |am |are |is |'m |still )*)(?<=\s|,)(?:need(?:ing)? (?:some|a|an|help|ideas|advice|to (?:find|know|decide|plan|buy|choose|pick))|want(?:ing)? (?:some|ideas|to know)|could use|looking for|would like (?:some|to know)|'d like (?:some|to know)|was wondering|wondering|don't know (?:what|how|where|which|if)|dunno|no idea|no clue|not sure (?:what|how|where|which|if)|can't (?:find|decide|figure)|struggling to|trying to (?:find|figure|decide)|(?:ich )?brauche (?:einen|eine|ein|hilfe|ideen|tipps)|(?:ich )?suche (?:einen|eine|ein)|weiß nicht (?:was|wie|wo)|necesito (?:un|una|ideas|ayuda)|busco (?:un|una|ideas)|no sé (?:qué|cómo|dónde)|preciso de|procuro|não sei (?:o que|como|onde)|(?:je )?cherche (?:un|une|des)|j'ai besoin|(?:je )?ne sais pas (?:quoi|comment|où))(?![\p{L}]).*$/isu,
  // A consequence without a comma.
  /\s+(?:so (?:what|how|which|can|could|would|should|please|pls|any|no|i (?:need|want|can't|should)|is|are|do|maybe|give|suggest)|also (?:was|wie|bitte|kannst)|así que|por eso|então|por isso|du coup|donc|alors)\s.*$/isu,
]
const UNSPACED_TAILS: readonly RegExp[] = [
  /[，,。、；\s]*(?:哈哈+|呵呵|嘿嘿|谢谢|拜托|对了|唉|哎|呢|啦|哦|呀|嘛|哈|呜呜|笑死)[。！!～~\s]*$/u,
  /[，,；]\s*(?:所以|那|请|麻烦|能不能|可以|有什么|有没有|该|怎么|推荐|帮|求|想问|什么|哪|建议|给我|要不要|你觉得|今晚|还有什么).*$/u,
  /(?:んですけど|んですが|のですが|けど|けれど|が|ので|から)?[、,。\s]+(?:何|どう|どんな|おすすめ|オススメ|教え|お願い|どこ|いい|良い|何か|どれ|だから|なので|それで|アドバイス|助け|レシピ|相談).*$/u,
  /(?:w+|ｗ+|笑|\(笑\)|（笑）|草)+[。！!\s]*$/u,
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])(?:んですけど|んですが|のですが|ですけど|ですが|だけど|けど|けれども|んだよね|よね|よ|ね|な|ぞ|さ|わ)[。！!\s]*$/u,
]

const CUTS_MAX = 4

/** The length of a clause without its tail. `isUnspaced` is the script of the grammar. */
export function measureWithoutTail(clause: string, isUnspaced: boolean): number {
  let text = clause
  for (let count = 0; count < CUTS_MAX; count++) {
    const cut = [...(isUnspaced ? UNSPACED_TAILS : []), ...SPACED_TAILS].reduce((left, tail) => {
      const at = left.search(tail)
      return at > 0 ? left.slice(0, at) : left
    }, text)
    if (cut === text) break
    text = cut
  }
  return text.trimEnd().length
}
