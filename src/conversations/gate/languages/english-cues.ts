/** English. */
import { createSpacedCueNotation } from '../cue-notation.ts'
import type { CueTable, GateCue } from '../types.ts'

const { cue, opening } = createSpacedCueNotation({
  some: '(?:\\S+ ){0,4}?',
  few: '(?:\\S+ ){0,2}?',
  weekday: 'monday|tuesday|wednesday|thursday|friday|saturday|sunday',
  month:
    'january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter',
  past: 'yesterday|last (?:time|week|month|year|night|session|{weekday}|{month})|earlier|previously|before|the other day|(?:a while|a \\w+|\\w+ \\w+|\\w+) ago|recently|back then|on {weekday}|in {month}|20\\d\\d-\\d\\d(?:-\\d\\d)?|(?:this|these) past \\w+',
  whQuestion: 'what|which|who|whom|when|where|why|how(?: many| much| often| long| far)?',
  agreed:
    'discussed|talked about|talked|spoke about|decided|agreed|settled on|concluded|came up with|brainstormed|went over|ruled out|planned|chased|figured out|worked out|worked on|solved|picked|chose',
  agree:
    'decide|discuss|talk|speak|agree|settle|conclude|come up|go over|cover|rule out|plan|figure out|work out|work on|solve|fix|pick|choose|leave off|say|call|end up',
  converse: 'conversations?|sessions?|chats?|discussions?|talks?|exchanges?',
  kin: 'wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|mom|mum|mother|dad|father|parents?|son|daughter|kids?|child|children|brother|sister|siblings?|grandma|grandpa|grandmother|grandfather|grandparents|aunt|uncle|cousin|niece|nephew|family|friends?|boss|colleague|coworker|neighbou?r|roommate|dog|cat|puppy|kitten|pet|pets',
  leisure:
    'restaurants?|caf[eé]s?|bars?|movies?|films?|shows?|series|documentar(?:y|ies)|books?|novels?|reads?|recipes?|meals?|dish(?:es)?|dinners?|lunch(?:es)?|breakfasts?|desserts?|snacks?|drinks?|cocktails?|wines?|gifts?|presents?|hotels?|places? to|trips?|destinations?|vacation|holidays?|getaways?|itinerary|music|songs?|albums?|playlists?|bands?|podcasts?|games?|hobb(?:y|ies)|outfits?|clothes|shoes|activit(?:y|ies)|workouts?|exercises?|hikes?|things to do|perfumes?|courses?|museums?|concerts?|events?',
  work: 'code|codebase|functions?|scripts?|programs?|quer(?:y|ies)|tests?|variables?|arrays?|strings?|loops?|methods?|regex|repo(?:sitory)?|branch(?:es)?|commits?|builds?|servers?|containers?|docker|git|apis?|apps?|databases?|columns?|files?|folders?|configs?|packages?|librar(?:y|ies)|frameworks?|modules?|components?|algorithms?|errors?|exceptions?|bugs?|logs?|stack|compiler|python|javascript|typescript|java|sql|css|html|react|npm|divs?|buttons?|essays?|paragraphs?|sentences?|drafts?|homework|equations?|formulas?|proofs?|answers?|arguments?|parameters?|ip|browser|mistakes?|solutions?|approach|input|output|data|dataset|prompts?|titles?|snippets?|commands?|downloads?|install|deploy|results?|terminal|editor settings|passwords? manager|pipeline|implementation|schema|endpoint',
})

const GOING_WRONG = 'wrong|mistakes?|incorrect(?:ly)?|miss|missed|mess(?:ed)? up|break|screw up'

/** A yes-no question about what the user did, except a request to check the user's work. */
const OWN_DEED: GateCue = {
  pattern: opening('(?:and |so )?(?:did|was|were|have) i '),
  unless: cue(`${GOING_WRONG}|right|correct(?:ly)?|well|here|this|forget|understand|{work}`)
    .pattern,
}

/** Matches "What was the discount I got", but not "when I got home" or "…, which I got last week". */
const DEED_ASKED_FOR: GateCue = {
  pattern: opening(
    '(?:and |so |but |hey |also )?(?:what|which|who|when|where|how many|how much|how long) (?!i )(?:\\S+ ){1,12}?i (?:\\w{2,}ed|got|bought|went|took|made|saw|met|ran|ate|paid|spent|gave|flew|drove|won|sold|began)',
  ),
  unless: cue(`${GOING_WRONG}|here|if|{work}|need|use to`).pattern,
}

export const ENGLISH_CUES: CueTable = {
  language: 'en',
  void: opening(
    "(?:and |but |so )?(?:if|suppose|imagine|assume|pretend|let's say) ",
    "(?:please |also |and |always |just )*(?:remember|note|keep in mind|don't forget)(?:,| to| that i(?!\\S* \\w+ you)| i)",
    '(?:please )?(?:write|rewrite|compose|translate|rephrase|proofread)(?! (?:a |an |my )?(?:short )?(?:bio|profile|introduction))(?!.* (?:we|you) )',
  ),
  ownWords: [
    cue(
      '(?:find|search|look for|show|dig up|pull up) (?:\\S+ ){0,4}?(?:messages?|notes?|text) (?:where|in which|when|with) i ',
    ),
    cue('read (?:\\S+ ){0,3}?back'),
    cue(
      '(?:exact|precise|original|literal) (?:words?|sentence|phrase|wording|message|text) (?:that )?i ',
    ),
    cue(
      '(?:text|toast|speech|note|letter|paragraph|message|line)s? (?:that )?i (?:dictated|wrote you|sent you|gave you)',
    ),
    cue(
      '(?<!in )my (?:(?:exact|own|original|precise|literal|very|actual) )+(?:words?|wording|phrasing|message|sentence|text|phrase)',
      'in your|synonym',
    ),
    cue(
      'what (?:exactly |precisely |literally |actually )?did i (?:exactly |precisely |literally |actually |originally )?(?:say|write|type)',
      GOING_WRONG,
    ),
    cue(
      '(?:quote|repeat|cite|copy|recite|paste|read)(?: me)?(?: back)?(?: to me)? (?:what|the (?:words?|message|sentence|text|part)(?: that| where)?) i (?:said|wrote|typed|told|sent|posted)',
    ),
    cue(
      '(?:quote|repeat|copy|show|find|give me|paste|recite) {some}my (?:earlier|previous|old|first|original) (?:message|words|text|sentence|question|note)s?',
      'format',
    ),
    cue('how (?:exactly )?did i (?:phrase|word|put|formulate|express) (?:it|that|this|my)'),
    cue(
      '(?:show|find|give|read|pull up|quote|copy|look up) {some}(?:message|text|words|sentence|paragraph|note|email)s? (?:that )?i (?:sent|wrote|typed|gave|told)(?: to)? you',
    ),
    cue(
      '(?:original|exact|literal|precise) (?:text|words|wording|version) (?:of what )?i (?:typed|wrote|said|used|sent)',
    ),
    cue('what i (?:said|typed|wrote)(?: \\S+){0,6}? (?:word for word|verbatim)'),
    cue(
      '(?:word for word|verbatim)(?: \\S+){0,3}? (?:what|how|the \\S+ that) i (?:said|told|typed|wrote|put)',
    ),
    {
      pattern: opening(
        '(?:and |so |please |my )?(?:exact words|verbatim|word for word)(?: please)?\\W*$',
        '(?:can|could|would|will) you (?:give|show|tell|repeat|quote) (?:me )?(?:that|it|this) (?:verbatim|word for word|in my exact words)',
      ),
    },
  ],
  whoAmI: [
    cue('what (?:sort|kind|type) of (?:person|human|man|woman) (?:am i|(?:\\S+ ){0,3}?i am)'),
    cue(
      '(?:have|got|keep|hold|saved|stored|on file|on record)(?: \\S+){0,3}? (?:about|on) me(?! \\w)',
    ),
    cue('(?:which|what) (?:company|city|country|town|team) (?:am i|do i)', '{work}|need|use'),
    cue("what(?:'s|s| is) my (?:full |first |last |middle )?name(?! server)"),
    cue('who am i', 'quoting|talking to|speaking (?:to|with)|writing to|calling|addressing|logged'),
    cue('(?:know|remember|tell me|recall|understand|forgotten|forget) who i am'),
    cue(
      '(?:know|remember|learn(?:ed|t)?|stored|saved|recall|remembered|noticed|gathered|collected|notes?|memor(?:y|ies)) {few}about (?:me|myself)',
      '(?:he|she|they|people|friends|google|facebook|companies|government) know',
    ),
    cue('tell me about (?:me|myself)'),
    cue('(?:describe|summari[sz]e|sum up|characteri[sz]e) me(?! (?:the|an?|how|what|this|these))'),
    cue('how old (?:am i|i am)'),
    cue("where (?:am i|i am|i'm) (?:originally )?from|where (?:do i|i) (?:live|come from)"),
    cue('where (?:do i|i) work', 'work (?:with|on|out|around|through|in|from)'),
    cue('what (?:do i do|i do) for (?:a living|work)'),
    cue(
      "what(?:'s|s| is) my (?:current )?(?:job|role|profession|occupation|age|nationality|background|personality)(?! (?:queue|id))",
    ),
    cue(
      '(?:what|which) (?:languages?|city|town|country|company) (?:do|can|am) i (?:speak|live|work|from)',
      'should',
    ),
    cue('when was i born|where was i born'),
    cue(
      '(?:bio|biography|profile|portrait|introduction) (?:of|about|for) (?:me|myself)|(?:my|a) (?:short )?bio',
    ),
  ],
  earlierTalk: [
    // A pronoun at the start of a question refers to somebody from an earlier conversation.
    {
      pattern: opening(
        "(?:and |so |but )?(?:what|when|where|why|how|who|which)(?:'s|'d)? (?:did|does|is|was|has|had|will|would|are|were|do)? ?(?:he|she|they) (?!say)",
        '(?:and |so |but )?(?:did|does|is|was|has|will|do|are|were|have) (?:he|she|they) ',
        '(?:and |so |but )?what did (?:he|she|they) say',
        "what(?:'s| is| was) (?:his|her|their) (?:name|number|phone number|address|birthday|job|email)",
      ),
      unless: cue('{work}').pattern,
    },
    cue(
      'what was (?:the|our) (?:conclusion|outcome|result|verdict|decision|agreement|plan)(?: \\S+)? (?:about|on|regarding|for|with|of our)',
      '{work}|war|trial|battle|election|study',
    ),
    cue(
      '(?:have|did) we (?:already|ever|still|finally|manage|finish|book|order|pay|send|get|buy)',
      '{work}|humans|as a species',
    ),
    cue('how far (?:did|have|had) we|where (?:do|did) we stand'),
    cue(
      'you (?:\\S+ )?(?:helped|gave|wrote|made|showed|sent) (?:me|us) (?:\\S+ ){0,8}?(?:{past})',
      '{work}',
    ),
    cue(
      "(?:what|which|where|everything|anything|all|list|options?|things?|stuff) (?:that )?(?:we|we've) (?:\\S+ )?(?:\\w{2,}ed|had|did|were|made|wrote|got|found)",
      '{work}|learn|at (?:work|school)',
    ),
    cue('(?:where|what) were we|we (?:had|were|made|started) (?:\\S+ ){1,8}?going'),
    cue('(?:from|like|as|than|unlike) (?:last time|the last time|before, when we)'),
    cue('you (?:\\S+ )?(?:wanted|asked|told) me to', '{work}'),
    cue("(?:recap|summary|overview|rundown) of (?:\\S+ ){0,5}?(?:we|we've|our) "),
    cue(
      '(?:follow-?ups?|action items|to-?dos?|open (?:points|questions|items)|next steps) (?:\\S+ ){0,6}?(?:{past}|with you|our)',
    ),
    cue('what (?:\\S+ )?happened with (?:\\S+ ){1,4}?(?:i|we|in the end|my|our)'),
    cue('(?:did|have|had) we (?:\\S+ )?(?:{agree}|{agreed})'),
    cue(
      '(?:what|(?<!, )which|why|how|as|like|way|know|than|reasons?|everything|all) (?:that )?we (?:already |had |have |once |just )*(?:{agreed})',
    ),
    cue(
      '(?:that|the|those|this) (?:\\S+ )?(?:\\S+ )?(?:that |which )?we (?:already |had |have |once )*(?:{agreed})',
    ),
    cue('(?:{past}),? (?:when )?we (?:{agreed}|spoke)'),
    cue('where we (?:left|stopped|were|had got|got to)|pick(?:ing)? up where|where i left off'),
    cue(
      "(?:our|in (?:the|my)|from (?:the|my)) (?:very )?(?:last|previous|earlier|first|past|recent) (?:{converse})|(?:yesterday|last (?:week|time|month|night|{weekday}))'s (?:{converse})",
    ),
    cue(
      '(?:last time|since) we (?:last )?(?:talked|spoke|chatted|met|did)|(?:like|as|than) last time|same as last time|(?:based on|from|in|across|throughout|during|over) (?:all )?our (?:{converse})',
    ),
    cue(
      "(?:you|you've|you had|you'd) (?:already |once |even |previously |actually )*(?:told me|mentioned|recommended|suggested|advised|promised|reminded me)",
      '{work}|above|just now',
    ),
    cue(
      '(?:{past}),? (?:\\S+ ){0,3}?you (?:\\S+ )?(?:told|gave|showed|wrote|sent|made|helped|explained|said|did|shared|created|listed)',
    ),
    cue(
      'you (?:\\S+ )?(?:told|gave|showed|wrote|sent|made|helped|explained|said|shared|created|listed) (?:\\S+ ){0,6}?(?:{past})',
      '{work}',
    ),
    cue('(?:as|like) i (?:already |just |previously )*(?:said|mentioned|told you|explained|wrote)'),
    cue(
      'i (?:already |once |previously )*(?:told you about|mentioned (?:to you )?(?:{past})|asked you about)',
    ),
    cue(
      'remember (?:when|that|the|our|how|what|which|where) (?:\\S+ ){0,4}?(?:we|you|i) (?:\\S+ )?\\w+(?:ed|t|d|id|ot|an|poke|ame|ave)',
      'remember (?:that )?i |i (?:still |also |do )?remember',
    ),
    cue(
      '(?:remind me|refresh my memory)(?: on| about|,)? (?:what|which|how|why|when|where|who|of what) (?:\\S+ ){0,2}?(?:we|you) ',
    ),
  ],
  ownPast: [
    cue(
      '(?:what|which|who|whom|when|where|how(?: many| much| often| long| far)?) (?:\\S+ ){0,14}?(?:did|have|had|was) i(?! (?:to|better))',
      `${GOING_WRONG}|here|errors?|exception`,
    ),
    DEED_ASKED_FOR,
    cue(
      '(?:what|which) (?:\\S+ ){1,6}?am i (?:currently |now |still |mostly )?(?:\\w+ing|obsessed|into)',
      `${GOING_WRONG}|missing|here|supposed|{work}`,
    ),
    cue('(?:did|does|has) it (?:\\S+ )?(?:take|taken|cost) (?:me|us|for my)'),
    cue(
      "(?:trying|try|can't|cannot|don't|help me|struggling)(?: to)? (?:remember|recall) (?:what|which|when|where|who|how|if|whether|the)",
      '{work}|syntax|how to',
    ),
    cue(
      '(?:did|have) i (?:ever|already|tell|mention|told|mentioned|share|shared)',
      `${GOING_WRONG}|here|{work}`,
    ),
    OWN_DEED,
    cue('(?:when|what) was (?:the )?(?:last|first) time (?:that )?i'),
    cue(
      '(?:{whQuestion}) (?:\\S+ ){0,3}?my (?:last|previous|most recent) (?:appointment|trip|holiday|vacation|visit|order|workout|run|check-?up|purchase|race|meeting|exam)',
    ),
  ],
  ownFact: [
    cue(
      '(?:what|who|when|where|which|how (?:old|tall|big|long|much|many|far|heavy)) (?:\\S+ ){0,8}?my (?:\\w+ )?(?:{kin})',
      '{work}|should|say|mean',
    ),
    cue(
      "my (?:{kin})(?:'s \\S+)?,? (?:\\S+ ){0,4}?(?:his|her|their|its|the) (?:name|names|birthday|age|birthdays)",
    ),
    cue(
      '(?:what|where|which|who) (?:\\S+ ){0,6}?(?:was|were|did|my|our|we|i|their|his|her) (?:\\S+ ){0,6}?again(?! \\S)',
      '{work}',
    ),
    cue(
      '(?:what|where|when|how|than|as) (?:i|we) (?:usually|normally|always|typically|generally) ',
      '{work}|(?:do|should|can|must) i|error',
    ),
    cue(
      '(?:is|are) my (?:\\S+ )?(?:passport|visa|licen[cs]e|insurance|subscription|membership|lease|prescription|vaccinations?|appointment) ',
    ),
    cue('fill (?:in|out) (?:\\S+ ){0,5}?(?:for me|my )'),
    cue(
      'you know (?:what|how|who|which) (?:i|my) (?:\\S+ )?(?:like|love|prefer|hate|taste|want|need|eat)',
    ),
    cue(
      '(?:what|which) (?:\\w+ ){1,2}?(?:is|are|was|were) (?:my|our) (?!(?:\\S+ )?(?:{work}))',
      '{work}|should|wrong|best',
    ),
    cue(
      'how (?:many|much|often|long|far) (?:\\S+ ){0,10}?(?:my|me) ',
      '{work}|should|need|can i|could|would|to|tell|give|explain',
    ),
    cue('how many (?:\\S+ ){0,3}?(?:older|younger|taller) (?:am i|is my|are my)'),
    cue(
      'how much (?:will|do|am|would) i (?:\\S+ )?(?:save|saving|spend|spending|owe|pay|paying|weigh|earn|earning)',
    ),
    cue(
      '(?:what|which) (?:days?|times?)(?: of the week)? do i|how (?:often|many \\w+ (?:a|per) \\w+) do i|do i (?:currently|still|go to|attend|keep my)',
      '{work}|need|have to|should',
    ),
    cue(
      "(?:what|who|when|where|which \\w+|how (?:old|tall|long|big|far|much|many \\w+|heavy))(?:'s|s| is| are| was| were| will be) (?:the (?:\\w+ )?\\w+ (?:of|for|that) )?(?:my|our) (?!(?:\\S+ )?(?:{work}))",
      'our (?:planet|sun|galaxy|solar|earth|universe|moon|species|atmosphere)|{work}|should|wrong|options|best|rights?',
    ),
    cue(
      '(?:what|who|when|where|which|how (?:old|long|many|much|often)) (?:\\S+ ){0,3}?(?:do|does|did|has|have) (?:my|our) (?!(?:\\S+ )?(?:{work}))',
      '{work}|mean|need',
    ),
    cue(
      '(?:what|which) (?:\\S+ ){0,4}?do i (?:usually|normally|typically|generally|always|own|like|love|hate|prefer|drive|have at home|play)',
      '{work}',
    ),
    cue(
      '(?:do|does) (?:i|my \\w+) (?:usually|normally|typically|generally|prefer|own|like|love|hate|drink|smoke|speak|have (?:an?y? |a )?(?:allerg\\w+|siblings|pets|children|kids|food))',
      '{work}',
    ),
    cue('how many (?:\\S+ ){1,3}?do i (?:have|own|currently)', '{work}|left|need'),
    cue(
      'do you (?:still |even |happen to )*(?:remember|recall)',
      'remember (?:the )?(?:syntax|formula|things|everything|anything|users|conversations)|{work}',
    ),
    cue(
      'do you (?:still |even |happen to )*know (?:\\S+ ){0,4}?(?:my|our|i) (?!(?:\\S+ )?(?:{work}))',
      '{work}|should|can i|how (?:i|to)|why',
    ),
    cue('know(?:n|s)? about my (?!(?:\\S+ )?(?:{work}))'),
    cue(
      'am i (?:\\S+ )?(?:allergic|vegetarian|vegan|married|intolerant|left-handed|diabetic|lactose|afraid)',
    ),
    cue(
      'remind me (?:of |about |when |where |who |what |which )(?:\\S+ ){0,3}?(?:my|our|i) ',
      '{work}',
    ),
    cue(
      'my (?:usual|regular|go-to|preferred) (?!(?:\\S+ )?(?:expression|{work}))',
      'my \\w+ \\S+ (?:is|are) ',
    ),
    cue('(?:order|book|get|make|have|bring|want)(?: me| us)? the usual(?! \\S)|the usual,? please'),
    cue('my favou?rites?', 'my (?:\\S+ )?favou?rites? (?:\\S+ ){1,3}?(?:is|are|was|were|has|will)'),
  ],
  advice: [
    cue(
      '(?:find|get|book|recommend|suggest|look for) (?:me |us )?(?:\\S+ ){1,5}?(?:near|close to|around) (?:me|us|home|my (?:place|home|house|flat|apartment|office|work)|our)',
      '{work}',
    ),
    cue(
      "(?:we'd|we would|i'd|i would|we|my family|our family|the kids) (?:\\S+ )?(?:enjoy|love) (?:\\S+ ){0,3}?(?:as a|together|family|there)",
    ),
    cue(
      '(?:good|best|nice|right|suitable) (?:\\S+ ){1,4}?for (?:my|our) (?:{kin}|feet|back|knees?|skin|hair|home|garden|age|height|level)',
    ),
    cue(
      'that i can (?:actually |also )?(?:eat|drink|afford|use)|(?:for|with) (?:our|my) (?:{kin})(?! \\S)',
      '{work}',
    ),
    cue(
      '(?:suits?|fits?|match(?:es)?) (?:me|my (?:\\w+ )?(?:personality|style|taste|life|lifestyle|schedule|needs|mood|home|body))',
      '{work}',
    ),
    cue('(?:pick|choose|find|suggest|recommend) (?:\\S+ ){0,4}?for (?:me|us) to ', '{work}'),
    cue(
      '(?:dinner|lunch|breakfast|meal|outfit|gift|date|weekend|travel) (?:inspo|inspiration|ideas?|suggestions?)',
    ),
    cue(
      'what (?:\\S+ ){0,3}?(?:should|could|can|shall|might) (?:i|we) (?:\\S+ )?(?:cook|eat|bake|wear|watch|order|drink|gift|pack|serve|listen|have for|make for|get (?:my|him|her|them|for)|give (?:my|him|her|them)|buy (?:my|him|her|them|for)|do (?:this (?:weekend|evening|summer|afternoon|week)|tonight|tomorrow|for fun|on (?:{weekday}|the weekend|my|vacation|holiday)|with (?:my|the kids))|plant|play (?:tonight|next|with)|read(?! (?:from|in the|into))|visit|try next)',
      '{work}',
    ),
    cue(
      'where (?:should|could|can|shall) (?:i|we) (?:\\S+ )?(?:go|eat|travel|stay|celebrate|have (?:dinner|lunch|breakfast)|take (?:my|the kids)|spend)',
      '{work}',
    ),
    cue(
      'should i (?:\\S+ )?(?:take|accept|quit|move|stay|buy|adopt|marry|apply|book|order|go) ',
      '{work}|pill|derivative|square|logarithm',
    ),
    cue(
      '(?:recommend|suggest|propose)(?:ations?|ations|ions?)? (?:\\S+ ){0,6}?(?:{leisure})',
      '{work}',
    ),
    cue(
      "(?:recommend|suggest|propose|recommendations?|suggestions?|ideas?|tips|advice) (?:\\S+ ){0,10}?(?:for me|for us|my|our|i'd|i would|i might|i could|i can|i should)",
      '{work}',
    ),
    cue('(?:find|pick|choose|give|show) (?:me|us) (?:\\S+ ){0,4}?(?:{leisure})'),
    cue(
      '(?:find|pick|give|suggest|recommend)(?: me| us)? something (?:\\S+ ){0,3}?to (?:read|watch|cook|eat|do|play|listen|drink)',
    ),
    cue('(?:plan|organi[sz]e|schedule) (?:my|our|me|us) (?!(?:\\S+ )?(?:{work}))', '{work}'),
    cue(
      '(?:make|create|build|give|write|design|draw up|put together|come up with) (?:\\S+ ){0,4}?(?:workout|training|meal|diet|fitness|travel|study|running|exercise|reading|packing|grocery|shopping|morning) (?:plan|schedule|routine|itinerary|list)',
      '{work}',
    ),
    cue('would i (?:\\S+ )?(?:like|enjoy|love|hate)|(?:someone|a person|people) like me'),
    cue(
      '(?:my|our) (?:personal )?(?:taste|tastes|preferences|diet|dietary \\w+|fitness level|budget|interests|hobbies|allergies)',
      'my \\S+ (?:is|are) ',
    ),
    cue(
      '(?:suits?|fits?|good for|right for|best for|better for|safe for|suitable for|work for) (?:me|us)',
      '{work}',
    ),
    cue(
      "(?:something|anything|one|movie|film|book|show|series|game|place|restaurant|song|that) (?:that )?i(?:'d| would| might|'ll) (?:\\S+ )?(?:like|enjoy|love)(?! to| you| if)",
      '{work}',
    ),
    cue('can i (?:eat|drink|have) (?:this|that|it|these|those)'),
    cue('(?:gifts?|presents?|surprise|party) (?:\\S+ ){0,3}?for (?:my|our) '),
    cue('help me (?:choose|decide|pick) ', '{work}|{leisure} for (?:a|the) customer'),
    cue('(?:book|reserve|order) (?:me|us|a table|my|our) '),
    cue(
      'what (?:would|could|might) be (?:a )?(?:good|nice|suitable|fun) (?:\\S+ ){1,3}?for (?:me|us|my|our|someone like)',
      '{work}',
    ),
  ],
}
