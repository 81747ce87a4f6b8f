/** English. Apostrophes are optional throughout: people type "im", "dont" and "ive". */
import { CRITICAL_IMPORTANCE, createSpacedNotation, NEVER_MATCHING } from '../grammar-notation.ts'
import type { Grammar } from '../types.ts'

const { opening, anywhere, cue } = createSpacedNotation({
  family:
    'wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|gf|bf|son|daughter|kids?|child(?:ren)?|baby|twins|mom|mum|mother|dad|father|parents|brothers?|sisters?|siblings|stepson|stepdaughter|stepmother|stepfather|grand(?:mother|father|ma|pa|parents|son|daughter|kids|children)|uncles?|aunts?|cousins?|nieces?|nephews?|in-laws|(?:mother|father|sister|brother|son|daughter)[- ]in[- ]law',
  pets: 'dogs?|cats?|puppy|puppies|kittens?|parrots?|hamsters?|rabbits?|horses?|pets?|guinea pigs?|goldfish|budgies?|tortoises?',
  others:
    'boss|manager|team lead|colleagues?|coworkers?|co-workers?|roommates?|flatmates?|neighbou?rs?|friends?|best friend|mentor|therapist|landlord|teacher|doctor|ex|ex-wife|ex-husband|cofounder|co-founder|business partner',
  kin: '{family}|{pets}|{others}',
  kind: 'older|younger|elder|eldest|oldest|youngest|big|little|twin|best|closest|late|new|old|only|first|second|two|three|four|five|six|middle|teenage|baby|adult|direct|current|ex|dear|three-year-old',
  i: 'i|we|(?:me and )?my [\\p{L}-]+ and (?:i|me)',
  am: "i'?m|i am|we're|we are|my [\\p{L}-]+ and i are",
  have: "i have|i'?ve|we have|we've",
  will: "i'?ll|i will|we'll|we will|i won'?t|i will not|we won'?t|{am} (?:not )?(?:going to|gonna)",
  adv: '(?:(?:also|really|just|actually|absolutely|truly|definitely|strongly|totally|personally|still|very much|much|kinda|kind of|quite|particularly|especially|genuinely|honestly|do|much|simply|both|so|super|pretty|very|all|now|currently|finally|already|recently|originally|mainly|too) ){0,3}',
  not: "(?:(?:don'?t|do not|didn'?t|did not|never|no longer|can'?t|cannot|can not|couldn'?t|ain'?t) ){0,2}",
  often:
    'usually|always|never|typically|normally|generally|often|frequently|regularly|rarely|seldom|hardly ever|almost always|almost never|mostly|sometimes|occasionally|tend to|constantly|habitually|routinely',
  day: '(?:mon|tues|wednes|thurs|fri|satur|sun)day',
  period:
    'day|morning|afternoon|evening|night|week|weekend|month|year|quarter|spring|summer|autumn|fall|winter|christmas|{day}',
  month: 'january|february|march|april|may|june|july|august|september|october|november|december',
  number: '\\d+|one|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few|several',
  frequency:
    'every (?:single |other |second )?{period}|each {period}|(?:daily|weekly)(?=\\s*(?:$|[,.]))|on (?:{day}s|weekdays|weekends)|(?:once|twice|{number} times) (?:a|per|every) (?:day|week|month|year)|(?:most|all) (?:days|mornings|evenings|nights|weekends)|(?:before|after) (?:bed|breakfast|lunch|dinner|work)',
  soon: 'tomorrow|tonight|soon|next (?:{period}|{month}|time i)|this (?:coming )?(?:weekend|week|month|year|spring|summer|autumn|fall|winter|evening|afternoon|{day}|{month})|later (?:today|this {period})|(?:on|by|until|before|this) (?:{day}|{month})|on the \\d+(?:st|nd|rd|th)|(?:in|by|during|from|at the end of|early|late|mid) (?:early |late |mid-?)?(?:{month}|20\\d\\d|spring|summer|autumn|fall|winter)|in (?:{number}) (?:days|weeks|months|years)|over (?:christmas|easter|the (?:holidays|summer|weekend|winter))|day after tomorrow',
  errand:
    '(?:let|try|paste|send|share|check|test|look|post|show|ask|explain|get back|come back|come up|copy|add|update|fix|see|do (?:that|it|this|so)|be (?:right )?back|give|take a|need|assume|tell|provide|attach|upload|write you|report|debug|rerun|re-run|run|read|think|wait|have to|keep (?:you|that|it|this)|remember|say|put|skip|leave|start with|call it|rewrite|rephrase|clarify|describe|mention|follow up|double|just|quickly|also try|install|restart|reboot|implement|refactor|deploy|merge|push|commit|open|close|make sure|ping|email you|message you)(?!\\p{L})',
})

/** "I'm Tomasz": only the capital tells a name from "I'm tired", so this one minds case. */
const INTRODUCTION =
  /^[Ii](?:'?m| am)\s+(?!(?:Ok|Okay|Sorry|Not|Sure|Just|So|Very|Also|Happy|Getting|Using|Trying|Here|Done|Fine|Good|Back)\s?)\p{Lu}\p{Ll}+(?=\s*(?:$|[,(–—.]|\s(?:and|from|but|by|the|a|an|here|\p{Lu}\p{Ll}+)(?!\p{L})))/u

export const ENGLISH_GRAMMAR: Grammar = {
  language: 'en',
  languageHint: /(?<![\p{L}'])(?:i|the|my|is|and|to|of|you|i'm|with|for|in)(?![\p{L}])/giu,
  firstPerson:
    /(?<![\p{L}\p{N}])(?:i|i'?m|i'?ve|i'?ll|my|me|we|our|we'\p{L}+)(?![\p{L}\p{N}])|^[\s,:!–—-]*(?:(?:just|finally|recently|officially) ){0,2}(?:allergic to |been |turned \d|lost |got (?:a |married|engaged|divorced|promoted|laid off|fired|hired|pregnant)|quit |gave up |broke up|split up|moved to|relocated|retired|graduated|switched|bought|sold|adopted|started)/iu,
  discourse: opening(
    '(?:hi|hey|hello|yo|ok|okay|well|so|and|but|also|oh|ah|hmm|anyway|anyways|yes|yeah|yep|no|nope|nah|sure|thanks|thank you|thx|great|cool|nice|right|actually|honestly|personally|frankly|btw|by the way|fyi|for the record|just so you know|for your information|for context|for reference|fun fact|quick note|to be honest|tbh|imo|in my opinion|as you know|as i said|as mentioned|basically|look|listen|lol|haha|sorry|good morning|good evening|hi there|hey there|hello there|hi everyone|hi all|remember that|please remember(?: that)?|please note(?: that)?|note that|keep in mind(?: that)?|remember|you should know(?: that)?|i should (?:mention|add|say)(?: that)?|the thing is|the truth is|plus|because|since|though|although|then|as(?= (?:i|we|my) ))[\\s,:!–—-]*(?:there[,!] )?',
  ),
  lead: opening(
    'next|this|tomorrow|tonight|today|on|in|at|every|each|for|as|since|after|before|during|when|whenever|while|usually|normally|typically|generally|often|sometimes|always|most|once|twice|these days|nowadays|currently|right now|lately|recently|later|soon|over|with|by|until|from|all|outside|apart|besides|despite|unlike|like most|back in|when it comes|finally|eventually|now|at the moment|to relax|in the end|ultimately|growing up|professionally|originally|between|among|throughout|weekends?|weekdays|mornings|evenings|{day}s?',
  ),
  anchor: /(?<![\p{L}\p{N}'])(?:i|we|my|our)(?!\p{L})|(?<![\p{L}\p{N}'])i(?:m|ve|ll)(?!\p{L})/giu,
  boundary:
    /[,:(–—](?:\s*(?:and|but|so|yet|however|though|although|while|whereas|plus|also|because|which is why)\s)?|(?<=\s)(?:-\s|(?:and|but|so|yet|however|whereas|plus)\s)|(?<=\s)(?=(?:can|could|would|will) (?:you|u|i)\s|pl(?:ea)?[sz]e?\s|(?:what|how|where|which) (?:\p{L}+ )?(?:should|can|do|could|would) (?:i|we|you)\s)/giu,
  subject: opening("i|i'?m|i'?ve|i'?ll|i'd|we|we're|we've|we'll"),
  request: opening(
    "(?:(?:so|and|but|then|now) )?(?:(?:i )?was (?:wondering|hoping|curious)|(?:i )?(?:need|want|could use|would like) (?:some |your |a bit of )?(?:help|advice|tips|ideas|recommendations|suggestions)|please|pls|plz|(?:can|could|would|will) (?:you|u)|(?:can|could|should|would|do|does|did|am|is|are|have|has|was|were) (?:i|we|it|there|that|this|my|the|anyone|they|he|she)|any (?:\\p{L}+ ){0,2}(?:ideas?|suggestions?|tips?|recommendations?|advice|thoughts)|(?:tips|ideas|suggestions|advice|recommendations|recs|thoughts)(?=\\s*(?:$|[?]))|suggest|recommend|give (?:me|us)|tell (?:me|us)|show (?:me|us)|help (?:me|us)|write (?:me|us|a)|make (?:me|us)|find (?:me|us)|let me know|explain|keep (?:it|your|that|this) \\p{L}+|what(?:'s| (?:is|are|should|can|do|could|would|kind|about))|how (?:do|can|should|would|to|much|many|about|long)|where (?:can|should|do)|which (?:\\p{L}+ ){0,2}(?:should|can|do|would|is)|who (?:can|should|is)|why (?:do|does|is|are|not)|right\\?|ok\\?)",
    "(?:don't you|aren't you|isn't it|do you|are you)",
  ),
  nonStatement: opening(
    "if|unless|suppose|supposing|imagine|pretend|assume|assuming|say (?:i|we)|maybe|perhaps|possibly|probably|hypothetically|what if|let's say|lets say|even if|whether|in case|were i|had i|i wish|(?:what|which|who|whom|whose|why|how|where)(?:'s)?|(?:do|does|did|am|are|is|was|were|can|could|should|would|will|shall|may|might|have|has|had|don't|isn't|aren't) (?:i|we|you|my|your|our|it|he|she|they|there|this|that|the|anyone)|act as|act like|roleplay|write|translate|rewrite|rephrase|create|generate|draft",
  ),
  questionEnd: NEVER_MATCHING,
  attribution: anywhere(
    "says|thinks|believes|claims|tells|insists|assumes|reckons|swears|suspects|suggests|argues|keeps saying|(?<!(?:i|we|have|'ve|already) )(?:said|told|thought|claimed|asked|mentioned|wrote|replied|answered|assumed|believed|insisted|suggested) (?:that |me |us |him |her |them |you |i|we|my)",
    '(?:you|they|people|everyone|some|most people|doctors|friends|parents|others|my (?:friends|parents|colleagues)) (?:think|say|claim|believe|assume|suggest|told|tell|keep saying)|according to|(?:said|asked|wrote|replied) (?:my|the|he|she|they|\\p{L}+)$',
    'rumou?r has it|apparently|supposedly|you (?:just |already |had )?(?:mentioned|suggested|provided|recommended|gave|listed|shared|described|sent|showed|wrote)|you.?ve (?:just |already )?(?:mentioned|suggested|provided|recommended|given|listed|shared|described|sent|shown|written)',
  ),
  condition: anywhere('if|unless|provided that|as long as'),
  chatter: opening(
    '{i} {adv}(?:like|love|prefer|enjoy) (?:to (?:know|ask|see if|understand|thank|hear|request|get))',
    '{am} {adv}(?:not )?(?:sure|sorry|confused|stuck|wondering|trying|asking|getting|seeing|looking|having|using|running|writing|working (?:on|with|through)|building|creating|debugging|testing|reading|facing|done|ready|back(?! (?:at|in|on|to|with|living|working|home))|afraid|aware|curious|happy with|glad|on it|new here|lost|hoping|referring|talking|not following|experiencing|attempting|going (?:to )?{errand})(?! .{0,60}(?:{frequency}|{soon}))',
    '{will} {adv}(?:not )?(?:{errand})',
    '{i} {adv}{not}{adv}(?:{often}) (?:get (?:an?|this|that|the|these|it|some|stuck|errors?)|got|see|saw|had|said|thought|knew|heard|wanted|asked|meant|mentioned|told|tried|run into|encounter|receive|end up with|have (?:this|that|a|an|the|to|problems?|issues?|trouble)|was|were|did|made|went|came|used this|imagined|expected|realized|noticed|understood|worked|happened|will|would)',
    '{i} (?:never|always) (?!learned|smoked)(?:\\p{L}+ed)',
    '{i} {not}(?:{often}) [^,.]{1,60} (?:this|these)(?! (?:week|month|year|time of))',
    '{am} an? (?:bit|little|lot|tad|few|idiot|fool|mess|moron|pain|sucker for punishment)',
    '(?:{i}|{have}) (?:get(?! (?:migraines?|headaches?|hay ?fever|car ?sick|sea ?sick|motion|panic|heartburn|hives|a rash|paid))|getting|got(?! (?:an?|two|three|married|engaged|divorced|promoted|demoted|hired|fired|laid|accepted|pregnant|diagnosed|custody|tenure|rid|into|back|my|our|the (?:job|flat|keys|house|place)))|see|saw|receive|run into|encounter) ',
    '(?:{i}|{have}) {adv}(?:chose|chosen|picked|selected|decided on|went with) (?:the )?(?:wrong|option \\p{L}|option \\d)',
  ),
  deictic:
    /^[\s:]*(?:(?:this|these|those|that)(?!['\p{L}]| (?:i|my|people|is|are|we)\s)|it(?!['\p{L}]| when| if)|them(?!\p{L})|you(?!\p{L})|your(?!\p{L})|how (?:you|it|this|that)|what (?:you|it|i see)|(?:the|my|both|option) (?:way (?:you|this|it)|ideas?|sound of|look of|tips|suggestions|options|answer|suggestion|approach you|solution|first|second|third|last one|other one|latter|former|result|output|response|above|below|code (?:below|above)|one you)(?!\p{L})|option [\p{L}\d](?!\p{L}))/iu,
  negation: {
    within: 'cue',
    words: anywhere(
      "\\p{L}+n't|dont|cant|wont|didnt|doesnt|isnt|arent|hasnt|havent|not|never|no longer|cannot|no",
    ),
  },
  cues: [
    cue(
      'preference',
      '{i} {adv}{not}(?:(?:generally|usually|normally|always|mostly) )?{adv}(?:prefer|like|love|enjoy|adore|hate|dislike|detest|despise|loathe|avoid|favou?r|care (?:much )?for|cherish)(?= \\S)',
    ),
    cue(
      'preference',
      '{have} {adv}(?:never|always|grown to|come to|long) {adv}(?:liked?|loved?|hated?|enjoyed?|preferred|prefer|disliked?|cared for|been (?:into|fond of|a (?:\\p{L}+ )?fan of))',
    ),
    cue(
      'preference',
      "{i} {adv}(?:can'?t|cannot|can not) {adv}(?:stand|bear|tolerate|live without)",
    ),
    cue(
      'preference',
      '{am} {adv}(?:not )?{adv}(?:(?:a|an) )?(?:(?:big|huge|massive|great|real|total|lifelong|die-hard|avid) ){0,2}(?:fans? of|into|fond of|keen on|partial to|obsessed with|passionate about|addicted to|crazy about|mad about|interested in(?! (?:knowing|how|why|what|seeing|understanding|learning|trying|exploring|getting|finding|buying|using|hearing|reading|checking|visiting|the|this|that|your)(?!\\p{L}))|in love with)',
    ),
    cue(
      'preference',
      "(?:my|our) (?:{adv}(?:all-time|absolute|current|least|second|personal|usual) )?(?:favou?rite|preferred|go-to|fave|fav)(?: [\\p{L}\\p{N}'/-]+){0,6} (?:is|are|was|isn't|aren't|has (?:always )?been|would be)",
    ),
    cue(
      'preference',
      '(?:my|our) (?:\\p{L}+ )?(?:hobby|hobbies|passions?|guilty pleasure|interests) (?:is|are|include)',
    ),
    cue(
      'preference',
      "(?!(?:who|what|which|where|this|that|it|you)(?!\\p{L}))[^,.:]{2,60}? (?:is|are|isn't|aren't|is not|'s) (?:definitely |still |by far |probably |one of )?my (?:(?:all-time|absolute|least|new|second) )?(?:favou?rites?|cup of tea|go-to|thing|jam)",
    ),
    cue(
      'preference',
      '(?:what i|the thing i|something i|one thing i) (?:really )?(?:like|love|hate|enjoy|dislike)[^,.]{0,40} (?:is|are)',
    ),
    cue(
      'decision',
      '(?:{i}|{have}) {adv}(?:decided|resolved|chose|chosen|settled on|opted|went with|gone with|went for|picked(?! up)|selected|committed to|made up my mind|switched (?:from|to|over|back)|migrated|ditched|moved away from|signed up for)(?: (?:not to|not|to|on|against|for|that|in the end))?',
    ),
    cue(
      'decision',
      '(?:{will}) {adv}(?:(?:not|never) )?{adv}(?:use|be using|go with|go for|adopt|choose|pick|stick (?:with|to)|switch to|migrate to|stay with|stop using)',
    ),
    cue(
      'decision',
      '{am} {adv}(?:not )?{adv}(?:going with|switching (?:to|from)|sticking (?:with|to)|migrating (?:to|from)|dropping|going for|giving up|quitting)',
    ),
    cue('decision', '(?:my|our) (?:final )?(?:decision|choice|pick) (?:is|was)'),
    cue(
      'relationship',
      "(?:my|our) (?:{kind} ){0,2}(?:{kin})(?:'s (?:\\p{L}+ )?(?:name|birthday|job|email|number|favou?rite \\p{L}+|age|anniversary))?(?:,? (?!component|process|node|element|class|table|theme|window|page|account|server|and|is|are|who)[\\p{L}'-]+,?)? (?:is|are|isn't|aren't|was|were|has|have|hasn't|lives?|works?|loves?|likes?|hates?|prefers?|enjoys?|plays?|speaks?|studies|study|goes|turns?|turned|died|passed|doesn'?t|don'?t|does not|do not|never|always|usually|just (?:turned|started|got|had)|owns?|runs|got|comes?|grew|teaches|suffers|moved|named?)(?! (?:getting|asking|having|trying|using|telling|seeing|running|saying|wondering|complaining|wanting|not working|broken|failing|an error|to (?:know|see|fix)))",
    ),
    cue(
      'relationship',
      "(?:{have}|i'?ve got|{i} (?:don'?t|do not) have|i own) {adv}(?:(?:an?|no|any|one|some|{number}|my|only) )(?:[\\p{L}-]+ ){0,3}?(?:{family}|{pets})",
    ),
    cue(
      'relationship',
      '{am} {adv}(?:not )?{adv}(?:(?:happily|recently|newly) )?(?:married|engaged|divorced|single|widowed|dating|separated|in a (?:long-distance )?relationship|(?:a|the) (?:single |proud |new |stay-at-home )?(?:mom|mum|mother|dad|father|parent|grandmother|grandfather)|an only child|expecting (?:a|our|twins))',
    ),
    cue(
      'relationship',
      '(?:me and )?my (?:{kind} )?(?:{kin}) and (?:i|me) (?:met|have been|are (?:married|engaged|expecting))',
    ),
    cue(
      'relationship',
      '(?!(?:who|what|which|where|this|that|it|he|she|they|you|there|these|those)(?!\\p{L}))[\\p{L}][^,.:]{1,40}? (?:is|are|was) my (?:{kind} )?(?:{kin})',
    ),
    cue(
      'fact',
      "(?:my|our) (?:full |first |last |middle |real |nick|sur)?name(?: is|'s)(?! (?:not found|undefined))",
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      "(?:you can |please |just |everyone |people |friends |everybody )*calls? me|i go by|i'?m called|i am called|i'm known as",
      CRITICAL_IMPORTANCE,
    ),
    { category: 'fact', importance: CRITICAL_IMPORTANCE, pattern: INTRODUCTION },
    cue(
      'fact',
      '{am} {adv}(?:not )?{adv}(?:allergic|intolerant|lactose[- ]intolerant|gluten[- ]intolerant|coeliac|celiac|diabetic|asthmatic|epileptic)|(?:{have}|{i}) (?:have |got |suffer from )?(?:an? )?(?:[\\p{L}-]+ ){0,3}(?:allerg(?:y|ies)|intolerance)',
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      "{have} {adv}been (?:an? |vegan|vegetarian|sober|self-employed)|(?:{have}|i suffer from|i was diagnosed with|i'?ve been diagnosed with|i've got|{i} (?:don'?t|do not) have) (?:got |a |an |mild |severe |chronic |been diagnosed with )*(?:type (?:1|2|one|two) )?(?:diabetes|asthma|adhd|add|autism|dyslexia|epilepsy|migraines?|celiac|coeliac|anxiety|depression|arthritis|insomnia|eczema|tinnitus|high blood pressure|hypertension|a heart condition|color\\s?blindness|ibs|ptsd|ocd)",
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      '{am} {adv}(?:not )?{adv}(?:vegan|vegetarian|pescatarian|flexitarian|keto|kosher|halal|muslim|christian|catholic|protestant|jewish|hindu|buddhist|atheist|agnostic|religious|retired|semi-retired|self-employed|freelance|freelancing|unemployed|employed|pregnant|left[- ]handed|right[- ]handed|ambidextrous|deaf|blind|colou?r-?blind|dyslexic|autistic|neurodivergent|bilingual|trilingual|gay|lesbian|bisexual|bi|trans|nonbinary|non-binary|queer|straight|asexual|introverted|extroverted|sober|gluten[- ]free|teetotal|short-?sighted|near-?sighted|bald|fluent in|in my (?:early |mid |late |mid-)?(?:teens|twenties|thirties|forties|fifties|sixties|\\d0s)|in (?:high school|college|grad school|university|\\d+th grade))',
    ),
    cue(
      'fact',
      '{am} {adv}(?:not )?{adv}(?:turning )?(?:\\d{1,3}|twenty|thirty|forty|fifty|sixty|seventy)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?(?= years?[- ]old| yo(?:$| )| y/o|,| and (?:i|live|work|a)|\\s*$)',
    ),
    cue('fact', 'i (?:just |recently )?turned (?:\\d\\d)'),
    cue(
      'fact',
      "{am} {adv}(?:not )?{adv}(?:from(?! (?:what|the|my|here|scratch))|based in|based out of|living in|staying in|located in|originally from|native to|working (?:as|at|for|full[- ]time|part[- ]time)|employed (?:at|by|as)|studying|majoring in|doing (?:a|my) (?:phd|master'?s|degree|mba|internship|apprenticeship)|responsible for|in charge of|on (?:a|the) (?:\\p{L}+ )?diet)",
    ),
    cue(
      'fact',
      '{i} {adv}{not}{adv}(?:live|reside) (?:in|near|at|on|with|alone|by|outside|close|out|abroad|between|just)|(?:{have}) {adv}(?:lived|been living|worked|been working) (?:in|as|at|for|near|abroad|with(?! (?:this|it)))|{i} {adv}(?:come|hail) from(?! the)|{i} (?:was|were) (?:born|raised)|{i} (?:grew|was brought) up|{i} moved (?:to|here|from)|{i} used to (?:live|work)',
    ),
    cue(
      'fact',
      '{i} {adv}{not}{adv}(?:work (?:as|at|for|from|in|remotely|part[- ]time|full[- ]time|night|nights|freelance)|teach|study(?! (?:this|the))|(?:run|own|manage|lead) (?:a|an|my own|the|our) (?:\\p{L}+ ){0,3}(?:business|company|shop|store|team|startup|agency|restaurant|cafe|farm|studio|department|house|apartment|car|boat|bakery)|graduated|majored|drive an?|practi[cs]e (?:law|medicine)|earn|weigh|wear (?:glasses|contacts|size|a size|hearing)|identify as|serve(?:d)? in)',
    ),
    cue('fact', '{i} {adv}{not}{adv}(?:speak|am fluent)(?! (?:to|about|with|for|at|up)(?!\\p{L}))'),
    cue(
      'fact',
      "{i} {adv}(?:don'?t|do not|no longer|can'?t|cannot|only|mostly) {adv}(?:eat|drink|smoke|consume|drive)(?! (?:that|this))",
    ),
    // What somebody "can't do" is anything; what they can't do of these harms them.
    cue(
      'fact',
      "{i} {adv}(?:can'?t|cannot|can not) {adv}(?:do|have|touch) {adv}(?:any )?(?:(?:\\p{L}+ )?(?:shellfish|seafood|fish|prawns|shrimps?|nuts|peanuts|almonds|gluten|wheat|dairy|milk|lactose|eggs?|soy|sesame|meat|pork|beef|alcohol|caffeine|sugar|grapefruit|ibuprofen|aspirin|penicillin))",
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      "(?:my|our) (?:[\\p{L}-]+ ){0,2}?(?:birthday|birth date|date of birth|e-?mail(?: address)?|phone(?: number)?|cell(?: number)?|mobile(?: number)?|address|home\\s?town|time\\s?zone|pronouns|job(?: title)?|profession|occupation|day job|employer|company|nationality|ethnicity|religion|(?:native|first|second|mother) (?:language|tongue)|mother tongue|blood type|shoe size|height|weight|age|major|degree|star sign|zodiac sign|(?:github|twitter|instagram|linkedin)(?: handle| username| profile)?|zip\\s?code|postcode|car|school|university) (?:is|are|was|isn't)(?! (?:not working|broken|wrong|failing|undefined|missing|null))",
    ),
    cue(
      'fact',
      '{am} {adv}(?:not )?{adv}an? (?!(?:bit|little|lot|fan|huge|big|user|beginner at this)(?!\\p{L}))(?=[\\p{L}])',
    ),
    cue(
      'fact',
      '{am} {adv}(?:not )?the (?:[\\p{L}-]+ ){1,3}?(?:of|at|for|in|here)(?! (?:this|that|it))',
    ),
    cue(
      'event',
      '(?:{soon}),? (?:{am}|{will}|{i} (?:have|fly|leave|start|travel|move|meet|get|go|begin|turn|finish|graduate|retire)|{i} (?:have|need|get) to)(?! (?:{errand}|sure|sorry))',
    ),
    cue(
      'event',
      '{i} {adv}{not}{adv}(?:plan|intend|aim) (?:to|on)|{am} {adv}(?:not )?{adv}planning (?:to|on|a|an|my|our|for)|(?:my|our) (?:plan|goal|dream|resolution)(?: for (?:\\p{L}+ ){1,3}?|\\s+)(?:is|are)(?! (?:fix|get this))',
    ),
    cue('event', '(?:{will}) (?!{errand})[\\p{L}]+(?=[^?]{0,110}?[\\s,](?:{soon})(?!\\p{L}))'),
    cue(
      'event',
      '(?:{will}) (?:not )?(?:move to|get married|marry|retire|graduate|quit my job|travel to|fly to|visit|have a baby|become an?|start (?:a new job|university|college|school)|buy an?|be in \\p{L})',
    ),
    cue(
      'event',
      '{am} (?:not )?{adv}(?:moving (?:to|in|out|back)|flying (?:to|out|back|home)|travell?ing to|getting (?:married|divorced|a (?:new )?(?:dog|cat|puppy|kitten))|retiring|graduating|starting (?:a|at|my)|leaving (?:for|my job)|visiting|going on (?:a |an )?(?:\\p{L}+ )?(?:holiday|vacation|trip|cruise|honeymoon|leave|retreat)|training for|saving (?:up )?for|having (?:a baby|surgery))',
    ),
    cue(
      'event',
      '{am} (?:not )?{adv}(?!(?:work|feel|hop|think|consider|look|try|wonder|hav|gett|us|be|tell|say|ask|runn)ing)\\p{L}+ing(?=[^?,]{0,80}?[\\s,](?:{soon})(?!\\p{L}))|{am} not going to \\p{L}+(?=[^?]{0,110}?\\s(?:{soon})(?!\\p{L}))',
    ),
    cue(
      'event',
      '(?:{have}|{i}) {adv}(?:booked|scheduled|signed up|registered|enrolled|bought (?:a )?tickets?|been accepted|got tickets)(?! (?:this|the (?:job|task)))',
    ),
    cue(
      'event',
      "(?:{i} have|i'?ve got|we have|we've got) (?:an?|my|our|the) [^?]{2,70}?(?:{soon})",
    ),
    cue(
      'event',
      '(?:my|our) (?:[\\p{L}-]+ ){0,2}?(?:flight|wedding|exam|exams|interview|surgery|appointment|trip|vacation|holiday|anniversary|graduation|due date|thesis defen[cs]e|last day|first day|move|train)(?: (?:to|from|with|for|at) [\\p{L}]+)? (?:is|are|starts|begins|leaves|departs|lands|arrives|got (?:moved|cancelled|postponed|pushed))',
    ),
    cue(
      'event',
      '{i} {adv}(?:want|hope|would love) to (?:learn(?! (?:how|why|more|what))|become|move to|travel to|visit|retire|lose \\d|buy (?:a house|a home|an apartment|a car)|get married|quit|start a|write a (?:book|novel)|run a)(?! .{0,30}(?:this|that) (?:code|function|file))',
    ),
    cue(
      'pattern',
      "(?:{am}) {adv}(?:{often}) (?!here|happy to|getting|sure|looking|trying|using|interested)\\p{L}+|{am} (?:not )?used to \\p{L}+ing|{am} in the habit of|{i} (?:have|'ve) (?:a|the) habit of|{i} make (?:it )?a (?:point|habit)|(?:my|our) (?:\\p{L}+ ){0,2}(?:routine|habit|ritual) (?:is|includes)|{am} an? (?:early bird|night owl|morning person)",
    ),
    cue(
      'pattern',
      "{i} {adv}{not}{adv}(?:{often})(?: (?:don'?t|do not|never))? (?!this|that|it|you)\\p{L}+",
    ),
    cue(
      'pattern',
      '(?:{often}|{frequency}|(?:in|during) the (?:mornings?|evenings?|afternoons?|winter|summer)|at night),? {i} (?:{not}|{adv})(?!am|have to|was|had|got|get|need|think|want|did|could|would|should|might|will|used)\\p{L}+',
    ),
    cue(
      'pattern',
      '{i} {not}(?!am|was|were|had|got|get|did|went|tried|saw|felt|found|made|took|came|left|bought|spent|met|told|thought|knew|began|remember|need|think|want|could|would|should|might|will|must|used|ran|\\p{L}+ed(?!\\p{L}))\\p{L}+(?=[^?]{0,110}?[\\s,](?:{frequency})(?!\\p{L}))',
    ),
    cue(
      'relationship',
      '(?:{i}|{have}) {adv}(?:(?:just|finally|recently) ){0,2}(?:got (?:married|engaged|divorced|separated)|broke up|broken up|split up|been (?:married|divorced|together|dating|single)|married (?=my)|(?:a |our )newborn|custody)|{i} (?:share|have|got) (?:\\p{L}+ )?custody|(?:(?:just|finally|recently) ){0,2}(?:got (?:married|engaged|divorced)|(?:broke|split) up with)',
    ),
    // Transitions end or begin a state, with or without "I".
    cue(
      'relationship',
      "(?:my|our) (?:{kind} ){0,2}(?:{kin})(?:'s)?(?:,? [\\p{L}'-]+,?)? (?:(?:just|finally|recently|also|now) )*(?:had|gave birth|adopted|bought|sold|broke|split|left|joined|quit|lost|started|finished|became|graduated|retired|passed|won|needs|wants|uses|takes|drives|wears|eats|drinks|allergic|can'?t|cannot|will|is|are|was|were|got|has|have|moved|relocated|switched|stopped|broke up|works?|lives?|stays?|visits?|calls?|likes?|turns?|celebrates|collects|sings|runs|writes|cooks|travels|arrives|calls)",
    ),
    cue(
      'fact',
      '(?:{i}|{have}) {adv}(?:(?:just|finally|recently|now|officially) ){0,2}(?:moved|relocated|left|joined|quit|resigned|started|began|got (?:a|an|the|my|our|married|engaged|divorced|promoted|hired|fired|laid off|accepted|into|pregnant|diagnosed|licensed|certified|custody|tenure|rid of|back from|in to)|became|become|sold|bought|adopted|rented|rescued|inherited|stopped|gave up|given up|cut out|renamed|postponed|cancell?ed|rescheduled|graduated|retired|transferred|enrolled|dropped out|finished|completed|passed|failed|signed|broke up|broken up|split up|separated|lost|had (?:a|an|my|our|twins|surgery)|was (?:diagnosed|promoted|hired|fired|laid off|transferred|accepted|made|adopted|raised|elected|appointed)|were (?:married|evicted)|changed (?:jobs|my|our|careers|majors|schools|to)|traded|upgraded|downgraded|subscribed|opened|founded|launched|built|closed|put down|took (?:over|up|on)|turned|hit|celebrated|settled|returned|came back|went (?:back|vegan|vegetarian|freelance|part[- ]time|full[- ]time|remote)|shaved|broke|tore|sprained|picked up)(?! (?:the (?:code|script|server|app|build|error)|this|that|it to|an error|a bug))',
    ),
    cue(
      'fact',
      '(?:(?:just|finally|recently|officially|now) ){0,2}(?:moved|relocated|quit|left|joined|started|starting|got (?:a|an|married|engaged|divorced|promoted|hired|fired|laid off|accepted)|sold|bought|adopted|switched|graduated|retired|resigned|gave up|broke up with|turned \\d\\d|passed|signed) (?=.{0,80}(?:my|our|me|us|i)(?!\\p{L}))',
    ),
    // News without a subject: "got married in June", "just moved to Porto".
    cue(
      'fact',
      '(?:(?:just|finally|recently|officially) ){0,2}(?:got (?:married|engaged|divorced|promoted|laid off|fired|hired|pregnant|a (?:puppy|dog|cat|kitten|promotion|new (?:job|phone|car|dog|cat)|job))|turned \\d\\d|lost my job|been (?:vegan|vegetarian|sober|married|divorced|single|a [\\p{L} ]{3,30}|living [\\p{L} ]{3,30}|working [\\p{L} ]{3,30}|together) (?=(?:since|for) )|quit (?:smoking|drinking|vaping|alcohol|sugar|coffee)|gave up (?:smoking|drinking|alcohol|sugar|coffee|meat)|broke up with|split up with)|(?:just|finally|recently) (?:moved|relocated|retired|graduated|switched|bought|sold|adopted|started (?:at|working))|(?:moved|relocated) to (?=[^.?!]{2,40}(?:last|in|this|yesterday|from) )',
    ),
    cue(
      'fact',
      '{am} {adv}back (?:at|in|on|with|living|working|home)(?! (?:this|that|it|track|topic|again)(?!\\p{L}))',
    ),
    cue('fact', 'allergic to (?!this|that|it)', CRITICAL_IMPORTANCE),
    cue(
      'fact',
      '{have} {adv}been (?:learning|studying|playing|living|working (?:at|for|as|in|from)|dating|married|together|vegan|vegetarian|sober|training|seeing|taking|with|off|an? [\\p{L}]+)(?! (?:this|that|it)(?!\\p{L}))',
    ),
    cue(
      'fact',
      "(?:my|our) (?:[\\p{L}\\d-]+ ){0,2}[\\p{L}\\d-]+'s (?:an?|the|called|on the|in the|at|from|\\d)(?! (?:error|bug|problem|issue|mess))",
    ),
    cue(
      'fact',
      '{i} {adv}(?:always |often |sometimes )?get (?:migraines?|headaches?|hay ?fever|car ?sick|sea ?sick|motion sick|panic attacks|heartburn|hives|a rash|paid)|{i} never (?:learned|smoked)',
    ),
    // "My commute is 40 minutes", "our rent went up to 900".
    cue(
      'fact',
      "(?:my|our) (?!(?:\\S+ ){0,3}(?:question|problem|issue|error|code|script|program|query|function|file|screen|browser|build|server|server's|output|input|prompt|guess|bad|point|understanding|goodness|god|bet|pleasure|answer|idea|attempt|result|results|message|request|internet|connection|test|tests|app|wifi (?:is|keeps)|page|website|data|first|last|next) )(?:[\\p{L}\\d'/&-]+ ){0,4}?[\\p{L}\\d'/&-]+ (?:(?:just|finally|recently|now|also|still|always|usually|currently) )*(?:is|are|was|were|has|have|had|isn'?t|aren'?t|costs?|starts?|started|ends?|ended|runs?|expires?|expired|arrives?|turns?|turned|moved|went|comes?|takes?|goes|lives?|works?|needs?|uses?|opens?|closes?|broke|died|meets?|gets?|got|changed|sits?|stands?|falls?|says?|speaks?|called|named)(?! (?:broken|wrong|failing|not working|undefined|null|crashing|giving|throwing|showing|slow|acting|doing|too long|due to))",
    ),
    cue(
      'fact',
      "(?:{have}|i'?ve got|{i} (?:don'?t|do not|only) have|{i} own|{i} keep) {adv}(?:(?:an?|no|two|three|four|five|six|\\d+|several|my own|only) )(?!(?:\\S+ ){0,2}(?:question|questions|problem|problems|issue|issues|error|errors|bug|idea|ideas|feeling|hunch|list|file|files|function|script|array|table|column|class|string|variable|server|query|doubt|clue|hard time|look|lot|bit|couple|request|favor|favour|thought|point|task|code|component|div|form|dataset|assignment|essay)(?!\\p{L}))[\\p{L}\\d]",
    ),
    cue(
      'fact',
      '{i} {adv}{not}{adv}(?:take|use|drive|own|study|go by|wear|train|volunteer|commute|weigh|pay|rent|share|attend|grow|raise|manage|coach|follow|subscribe|bank|vote|believe in|belong|suffer|struggle with|react|carry|host|organi[sz]e|practi[cs]e|teach|write|blog|stream|code in|program in|develop|design|work|live|stay|eat|drink|smoke|shop|order|buy|read|watch|listen|speak|support|celebrate|earn|make \\d|save|owe|supervise|report to|lead|head|chair|serve|freelance|consult|intern|breed|foster|sponsor|donate|care for|look after|homeschool)(?! (?:this|that|these|those|it|them|you|your|the (?:code|command|following|same|script|function|library|api|app|term|word))(?!\\p{L}))(?=\\s)',
    ),
    cue(
      'fact',
      '{am} {adv}(?:not )?{adv}(?:learning|taking|studying|training|renovating|recovering|fasting|dating|seeing|living|renting|raising|teaching|coaching|volunteering|fostering|commuting|doing|interning|apprenticing|caring for|recovering|working (?:at|for|as|in|from|on my|part|full|night|nights|remotely|two|three)|saving|expecting|breastfeeding|homeschooling|majoring|writing (?:a|my)|paying|on (?:\\p{L}+ )?(?:leave|medication|meds|a|an|insulin|statins|antibiotics|night|nights|probation|sabbatical|call|keto|vacation)|in (?:\\p{L}+ (?:for|until|with)|a (?:relationship|band|choir|wheelchair)|therapy|recovery|remission|my)|at (?:university|uni|college|school)|off (?:work|gluten|dairy|sugar|alcohol|coffee|meat)|with (?!you)|scared of|afraid of|terrified of|good at|bad at|terrible at|used to|due (?:in|on)|about to|\\d|half|part|originally|based|married|new to (?!this|here)|hard of hearing|trained as|certified|licensed|qualified|responsible|engaged|separated|widowed|retired|between jobs|out of work|colou?r|sensitive to|prone to|immune|lefty|tall|short(?!ly)|deathly|severely|mildly|highly|addicted)(?! (?:this|that|it) (?:code|function|error|problem))',
    ),
    cue(
      'preference',
      '{i} {adv}{not}{adv}(?:play|collect|paint|knit|sing|garden|surf|climb|ski|sail|fish|swim|hike|cycle|dance|bake|crochet|draw|brew|restore|watch|listen to|follow)(?! (?:this|that|it|them|you|around)(?!\\p{L}))(?=\\s)',
    ),
    cue(
      'pattern',
      '{i} {adv}{not}{adv}(?:wake|get up|sleep|commute|work out|meditate|fast|cook|run|jog|walk|bike|lift|stretch|nap|journal|skip|go for|go running|start (?:my|the|work)|finish (?:my|work)|have (?:breakfast|lunch|dinner|coffee))(?! (?:this|that|it|them|you|into|the (?:code|script|command|tests?|program|app))(?!\\p{L}))(?=\\s|$)',
    ),
  ],
}
