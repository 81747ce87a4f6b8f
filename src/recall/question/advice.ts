/** Detects requests for advice, to which even loosely related memories are relevant. */
const ADVICE = new RegExp(
  [
    '(?<!how )(?:should|shall|could|can) (?:i|we)|recommend\\p{L}*|suggest\\p{L}*|advi[sc]e|ideas? for|for me',
    'soll(?:te|ten|en)? (?:ich|wir)|kann ich|empf[ie]+hl\\p{L}*|schlag\\p{L}* .{0,80}vor|vorschl\\p{L}*|für mich',
    'debería\\p{L}*|qué (?:puedo|podemos)|recom[ie]+nd\\p{L}*|sug[ie]+r\\p{L}*|aconsej\\p{L}*|para mí',
    'devrais-je|devrions-nous|dois-je|que (?:puis|peux)-je|recommand\\p{L}*|conseil\\p{L}*|suggér\\p{L}*|pour moi',
    'devo|deveria|o que posso|recomend\\p{L}*|sugest\\p{L}*|sugir\\p{L}*|para mim',
  ]
    .map((words) => `(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`)
    .join('|'),
  'iu',
)
const UNSPACED_ADVICE = /推荐|建议|該不該|该不该|おすすめ|お勧め|オススメ|추천/u

export function seeksAdvice(question: string): boolean {
  return ADVICE.test(question) || UNSPACED_ADVICE.test(question)
}
