/** German. The verb stands second, so after an adverbial the subject follows it: "morgen fliege ich". */
import { CRITICAL_IMPORTANCE, createSpacedNotation, NEVER_MATCHING } from '../grammar-notation.ts'
import type { Grammar } from '../types.ts'

const { opening, anywhere, cue } = createSpacedNotation({
  family:
    'frau|ehefrau|mann|ehemann|partner(?:in)?|freund(?:in)?|verlobter?|sohn|söhne|tochter|töchter|kind(?:er)?|baby|zwillinge|mutter|mama|vater|papa|eltern|bruder|brüder|schwester|schwestern|geschwister|oma|opa|großmutter|großvater|großeltern|tante|onkel|cousine?|neffe|nichte|schwiegermutter|schwiegervater|schwiegereltern|enkel(?:in|kinder)?',
  pets: 'hunde?|welpen?|hündin|katzen?|kater|hamster|kaninchen|pferde?|haustiere?|papagei|wellensittiche?|meerschweinchen',
  others:
    'chef(?:in)?|vorgesetzter?|kolleg(?:e|en|in|innen)|mitbewohner(?:in)?|nachbar(?:in)?|beste freundin|bester freund|therapeut(?:in)?|vermieter(?:in)?|lehrer(?:in)?|ärztin|arzt|ex|geschäftspartner(?:in)?',
  kin: '{family}|{pets}|{others}',
  my: 'meine?[mnrs]?|unsere?[mnrs]?|unser',
  adv: '(?:(?:auch|sehr|wirklich|echt|eigentlich|persönlich|total|ganz|besonders|richtig|aktuell|momentan|derzeit|gerade|seit \\S+(?: (?:jahren|monaten|wochen))?|schon|jetzt|nun|nur|ja|halt|einfach|absolut|generell|grundsätzlich|ursprünglich|gar|überhaupt|noch|mich|mir|uns|selbst|als \\p{L}+|inzwischen|mittlerweile|bereits|endgültig|endlich|doch|nicht|nie|niemals|nicht mehr) ){0,4}',
  often:
    'normalerweise|meistens|meist|immer|nie|niemals|üblicherweise|gewöhnlich|oft|häufig|regelmäßig|selten|fast nie|fast immer|grundsätzlich|in der regel|manchmal|gelegentlich|ständig|täglich|wöchentlich|montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|abends|morgens|nachts|mittags|werktags|wochentags|jede[nrs]? (?:zweiten )?(?:tag|morgen|abend|nacht|woche|monat|jahr|wochenende|sommer|winter|mittag|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|am wochenende immer|(?:einmal|zweimal|dreimal|viermal|fünfmal|\\d\\s?(?:mal|x)) (?:pro|die|in der|im|am) (?:woche|tag|monat|jahr)',
  month: 'januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember',
  soon: '(?<!(?:jeden|am|guten|diesen|heute) )morgen|übermorgen|heute abend|bald|demnächst|nächste[nrsm]? \\p{L}+|kommende[nrsm]? \\p{L}+|diese[nsr]? (?:woche|wochenende|sommer|herbst|winter|frühling|freitag|samstag|sonntag|montag)|am (?:wochenende|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|\\d+\\.)|(?:im|ab|anfang|ende|mitte|bis) (?:{month}|sommer|herbst|winter|frühling|frühjahr|20\\d\\d)|in (?:\\p{L}+|\\d+) (?:tagen|wochen|monaten|jahren)|20\\d\\d|über (?:weihnachten|ostern|silvester)',
})

/** The verb with its subject in either order. */
const ich = (verbs: string) =>
  `(?:(?:ich|wir) {adv}(?:${verbs})|(?:${verbs}) (?:ich|wir) {adv}(?:nicht )?)`

const going =
  'fliegen?|reisen?|ziehen?|fahren?|heiraten?|treffe|treffen|besuchen?|beginnen?|fange|starten?|gehen?|mache|machen|habe|haben|werden?|bekommen?|kriegen?|wechsle|wechseln|kündigen?|bin|sind|nehmen? an|feiern?|laufen?'

const like =
  'mag|mögen|liebe|lieben|hasse|hassen|bevorzuge|bevorzugen|verabscheue|genieße|vermeide|meide|schätze'

export const GERMAN_GRAMMAR: Grammar = {
  language: 'de',
  languageHint:
    /(?<!\p{L})(?:ich|und|der|die|das|ist|nicht|mein|meine|mit|für|ein|eine|wir)(?!\p{L})/giu,
  firstPerson:
    /(?<!\p{L})(?:ich|wir|mein\p{L}{0,2}|unser\p{L}{0,2}|mir|mich)(?!\p{L})|^[\s,:!–—-]*(?:bin|hab|habe) (?!ich|du|wir|sie|er|es)/iu,
  discourse: opening(
    '(?:hallo|hi|hey|moin|servus|guten (?:tag|morgen|abend)|ok|okay|also|und|aber|ach|übrigens|ja|nein|danke|vielen dank|super|gut|btw|nur zur info|zur info|kurze info|ehrlich gesagt|um ehrlich zu sein|naja|na ja|tja|außerdem|nebenbei(?: bemerkt)?|wie gesagt|denn|bitte merk dir(?:, dass)?|merk dir|fun fact|p\\.?s\\.?)[\\s,:!–—-]*',
  ),
  lead: opening(
    'nächste[nrsm]?|kommende[nrsm]?|diese[nrsm]?|morgen|übermorgen|heute|am|an|im|in|ab|seit|nach|vor|für|bei|beim|als|während|wenn ich (?:gestresst|müde|krank|nicht)|normalerweise|meistens|meist|immer|üblicherweise|gewöhnlich|oft|manchmal|selten|jede[nrsm]?|montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|abends|morgens|mittags|nachts|werktags|wochentags|täglich|bald|demnächst|momentan|aktuell|derzeit|zurzeit|inzwischen|mittlerweile|mit|zum|zur|auf|anfang|ende|mitte|über|letztendlich|schließlich|endlich|deshalb|daher|ursprünglich|grundsätzlich|generell|beruflich|privat|in der regel|persönlich|jetzt|von|zu|besonders|um|gegen|einmal|zweimal|dreimal|leider|lieber|kaffee|tee|fleisch|fisch|alkohol',
  ),
  anchor:
    /(?<!\p{L})(?:(?:ich|wir|mir|uns|mein\p{L}{0,2}|unser\p{L}{0,2})(?!\p{L})|\p{L}{1,20}\s+(?:ich|wir)(?!\p{L}))/giu,
  boundary:
    /[,:(–—](?:\s*(?:und|aber|doch|sondern|jedoch|also|deshalb|daher|allerdings|denn)\s)?|(?<=\s)(?:-\s|(?:und|aber|doch|jedoch|allerdings)\s)|(?<=\s)(?=(?:kannst|könntest|kannste) du\s|bitte\s)/giu,
  subject: opening('ich|wir'),
  request: opening(
    '(?:(?:also|und|aber|deshalb|daher) )?(?:bitte|(?:kannst|könntest|würdest|magst|hast|weißt) du|(?:können|könnten|würden|haben) sie|was|welche[rsnm]?|wie(?! \\p{L}+ und)|wo|wohin|warum|wieso|weshalb|wer|wann|gibt es|gib mir|nenn|nenne|zeig|zeige|empfiehl|schlag|schreib|hilf|erkläre?|sag mir|mach mir|soll(?:te)? ich|kann ich|darf ich|muss ich|ist das|hast du|oder\\?|(?:irgendwelche )?(?:tipps|ideen|vorschläge|empfehlungen|ratschläge)(?=\\s*$))',
  ),
  nonStatement: opening(
    'wenn (?!ich (?:gestresst|müde|krank|nicht))|falls|angenommen|stell dir vor|nehmen wir an|sagen wir|vielleicht|eventuell|möglicherweise|womöglich|wahrscheinlich|vermutlich|hätte|wäre|würde|könnte|ob|gesetzt den fall|was wäre|was|welche[rsnm]?|wie|wo|wohin|woher|warum|wieso|weshalb|wer|wen|wem|wann|(?:mag|bin|habe|soll|sollte|kann|will|muss|darf|wohne|arbeite|esse|trinke|heiße|bevorzuge|werde|nehme|gehe|lebe|brauche|spreche|liebe|hasse) (?:ich|wir)|(?:ist|sind|hat|haben|heißt|kann) (?:{my}|der|die|das|es|sie)|(?:kannst|könntest|weißt|hast|bist|willst) du|schreib|schreibe|übersetze?|spiel|tu so|formuliere',
  ),
  questionEnd: NEVER_MATCHING,
  attribution: anywhere(
    '(?:sagt|sagte|meint|meinte|glaubt|glaubte|denkt|dachte|behauptet|behauptete|findet|schreibt|schrieb|erzählt|erzählte|vermutet),? (?:dass |mir |uns |immer )*(?:ich|wir|{my})|(?:du|er|sie|man|chef|chefin|frau|mann|freund|freundin|mutter) (?:sagt|sagst|sagte|sagtest|meint|meinst|meinte|glaubt|glaubst|denkt|denkst|behauptet)|(?:hast|hat|haben) .{0,30}(?:gesagt|behauptet|gemeint)|(?:sagte|meinte|rief|schrieb) (?:mein|meine|der|die|er|sie)|laut|angeblich|anscheinend',
  ),
  condition: anywhere('wenn|falls|sofern|vorausgesetzt'),
  chatter: opening(
    'ich bin (?:mir |gerade |noch |schon |jetzt |auch )*(?:(?:nicht |ziemlich |ganz )*sicher|dabei|verwirrt|fertig|auf der suche|mir|am \\p{L}+en|neu hier|dankbar|froh|gespannt|unsicher|der meinung|überfordert|begeistert von (?:dieser|deiner))',
    'ich (?:habe|hab) (?:gerade |noch |auch |leider |hier |da |mal )*(?:eine? |ein |das |keine )?(?:frage|fragen|problem|fehler|fehlermeldung|idee|ahnung|code|bug|verdacht|gefühl|das|es)',
    'ich (?:werde|will) (?:das|es|dir|euch|mal|dies)',
    'ich (?:bekomme|kriege|sehe|verstehe|brauche|versuche|möchte|würde|hätte|könnte|wollte|erhalte|teste|suche)',
    'ich (?:bekomme|habe|kriege) (?:immer|ständig|oft) (?:den|diesen|einen|die|diese|eine|das|dieses)',
    '{my} (?:code|server|programm|skript|test|build|app|projekt|rechner)',
  ),
  deictic:
    /^[\s:]*(?:(?:diese[nrsm]?|dein|deine[nrsm]?|dich|dir|das(?= (?:nicht|so|sehr|auch|hier|wirklich)|\s*$)|es(?!(?: gar| überhaupt)?(?: nicht| sehr)?,? wenn)|sie|ihn|die (?:antwort|idee|lösung|erste|zweite|dritte|variante)|den (?:vorschlag|ersten|zweiten|code)|wie du|was du|hier|davon|damit)(?!\p{L}))/iu,
  negation: {
    within: 'clause',
    words: anywhere('nicht(?! nur)|kein(?:e|en|er|em|es)?|nie|niemals|nie mehr|nichts'),
    until: /,|\s(?:aber|sondern|statt|anstatt|weil|dass|und|als|bevor|obwohl|außer)\s/iu,
  },
  cues: [
    cue(
      'preference',
      `${ich('habe|hab|haben')}(?: schon| noch)?(?: immer| nie)? (?:[\\p{L}-]+ ){1,3}(?:gemocht|geliebt|gehasst)`,
    ),
    cue('preference', `${ich(like)}(?=\\s*\\S)`),
    cue('preference', '(?:am liebsten|lieber|gerne?|ungern) \\p{L}+ (?:ich|wir)'),
    cue(
      'preference',
      '(?:ich|wir) {adv}\\p{L}+(?<!würde|hätte|möchte|wäre|könnte) {adv}(?:[\\p{L}]+ ){0,3}?(?:lieber|am liebsten|sehr gern|sehr gerne|gerne?|ungern)',
    ),
    cue(
      'preference',
      '(?:ich|wir) (?:kann|können) [^,.]{2,50}? (?:nicht|überhaupt nicht|gar nicht) (?:ausstehen|leiden|ertragen|ab)',
    ),
    cue(
      'preference',
      '(?:ich|wir) {adv}(?:finde|finden) [^,.]{2,50}? (?:toll|super|gut|schön|großartig|klasse|furchtbar|schrecklich|doof|langweilig|spannend|cool|nervig|schlimm|eklig|blöd|lecker|besser)',
    ),
    cue(
      'preference',
      'mir (?:gefällt|gefallen|schmeckt|schmecken)(?=\\s*\\S)|(?:mir|uns) ist [^,.]{2,40} (?:wichtig|lieber)',
    ),
    cue(
      'preference',
      '(?:ich|wir) (?:bin|sind) {adv}(?:(?:kein|ein|großer|große|riesiger|absoluter|absolute|echter|richtiger) ){0,3}(?:fan|freund|liebhaber|liebhaberin) (?:von|der|des)|(?:ich|wir) (?:interessiere|begeistere|interessieren) (?:mich|uns)|ich (?:stehe|steh) (?:\\p{L}+ )?auf',
    ),
    cue(
      'preference',
      '{my} (?:absolute[rsn]? |liebste[rsn]? )?(?:lieblings[\\p{L}-]+|hobbys?|hobbies|leidenschaft|liebste[rsn]? \\p{L}+)(?: [\\p{L}-]+){0,3} (?:ist|sind|war|bleibt)',
    ),
    cue(
      'preference',
      '[^,.:]{2,60}? (?:ist|sind) (?:einfach |immer noch |definitiv )?{my} (?:absolute[rsn]? )?lieblings\\p{L}+',
    ),
    cue(
      'decision',
      '(?:ich|wir) (?:habe|hab|haben) (?:mich|uns)?(?: [^,.?]{1,70}?)?\\s?(?:entschieden|entschlossen|festgelegt)|(?:ich|wir) (?:habe|hab|haben) {adv}(?:beschlossen|gewählt|ausgewählt)|(?:ich|wir) (?:habe|haben) [^,.?]{2,70} (?:ausgewählt|gewählt)',
    ),
    cue(
      'decision',
      '\\p{L}+ (?:habe|hab|haben) (?:ich|wir) (?:mich|uns) [^?]{2,80}(?:entschieden|entschlossen)',
    ),
    cue(
      'decision',
      '(?:ich|wir) (?:werde|werden) {adv}(?!das|es|dies)[^,.?]{2,70} (?:verwenden|nutzen|benutzen|einsetzen|nehmen|wählen|umsteigen)',
    ),
    cue(
      'decision',
      '(?:ich|wir) (?:nehme|nehmen|entscheide mich|entscheiden uns) (?:jetzt |nun |doch |also |dann |lieber )*(?:für )?(?!mir|teil|an|das |es |die (?:erste|zweite|dritte)|den (?:ersten|zweiten))',
    ),
    cue(
      'decision',
      '(?:ich|wir) (?:bin|sind) (?:[^,.?]{0,60} )?(?:umgestiegen|gewechselt|umgezogen auf)|(?:ich|wir) (?:steige|steigen|wechsle|wechseln) [^?]{0,60}(?:auf|zu|um)|(?:ich|wir) (?:setze|setzen) (?:jetzt |ab jetzt |künftig )?auf',
    ),
    cue(
      'relationship',
      '{my} (?:(?:kleine[rs]?|große[rs]?|ältere[rs]?|jüngere[rs]?|älteste[rs]?|jüngste[rs]?|beste[rs]?|neue[rs]?|verstorbene[rs]?|zwei|drei|beiden) ){0,2}(?:{kin})(?: (?!component|ist|hat)\\p{L}+)? (?:heißt|heißen|ist|sind|war|hat|haben|arbeitet|arbeiten|wohnt|wohnen|lebt|leben|mag|mögen|liebt|studiert|spielt|wird|kommt|isst|trinkt|spricht|geht|macht|hasst)(?! (?:einen fehler|ein problem|eine frage|gesagt|gerade dabei))',
    ),
    cue(
      'relationship',
      `${ich('habe|hab|haben')} {adv}(?:(?:eine?n?|keine?n?|zwei|drei|vier|fünf|\\d+|mehrere) )(?:[\\p{L}-]+ ){0,2}?(?:{family}|{pets})`,
    ),
    cue(
      'relationship',
      `${ich('bin|sind')} {adv}(?:[^,.?]{0,30} )?(?:verheiratet|verlobt|geschieden|single|ledig|verwitwet|getrennt|vergeben|alleinerziehend|vater|mutter|in einer beziehung)`,
    ),
    cue(
      'relationship',
      '(?!(?:wer|was|das|dies|es|er|sie|du)(?!\\p{L}))\\p{L}[^,.:]{1,40}? (?:ist|sind) {my} (?:(?:kleine[rs]?|große[rs]?|beste[rs]?|neue[rs]?) )?(?:{kin})',
    ),
    cue(
      'relationship',
      '{my} (?:{kin})s? (?:geburtstag|name) (?:ist|lautet)|der (?:name|geburtstag) {my} (?:{kin}) ist',
    ),
    cue(
      'fact',
      `${ich('heiße|heisse')}|(?:mein|unser) (?:voller |vor|nach|spitz)?name ist|man nennt mich|(?:du kannst|ihr könnt|sie können) mich [\\p{L}]+ nennen|nenn mich|ich werde \\p{L}+ genannt`,
      CRITICAL_IMPORTANCE,
    ),
    {
      category: 'fact',
      importance: CRITICAL_IMPORTANCE,
      pattern: /^[Ii]ch\s+bin\s+(?:der|die)\s+\p{Lu}\p{Ll}+(?=\s*(?:$|,|und\s|aus\s))/u,
    },
    cue(
      'fact',
      `${ich('bin|sind')} {adv}(?:[^,.?]{0,50} )?(?:allergisch|allergiker(?:in)?|intolerant|diabetiker(?:in)?|asthmatiker(?:in)?)|${ich('habe|hab')} {adv}(?:eine? |keine |einen )?(?:[\\p{L}-]+ )?(?:[\\p{L}-]*allergie|[\\p{L}-]*intoleranz|[\\p{L}-]*unverträglichkeit|diabetes|asthma|adhs|migräne|zöliakie|epilepsie|depressionen|legasthenie|bluthochdruck)|ich (?:vertrage|leide)`,
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      `${ich('bin')} {adv}(?:\\d{1,3}|\\p{L}+zig|zwanzig|dreißig)(?= jahre|,| und|\\s*$)`,
    ),
    cue(
      'fact',
      `${ich('komme|stamme')} {adv}aus(?! (?:dem|der) (?:urlaub|meeting))|${ich('wohne|lebe|wohnen|leben')}(?=\\s*\\S)|(?:ich|wir) (?:bin|sind) [^,.?]{0,50}(?:geboren|aufgewachsen|gezogen)|${ich('bin')} {adv}aus \\p{L}`,
    ),
    cue(
      'fact',
      `${ich('arbeite|arbeiten|studiere|unterrichte')} {adv}(?!gerade an|an (?:diesem|einem)|daran|mit )(?=\\S)|${ich('mache')} {adv}(?:eine|meine|mein) (?:ausbildung|studium|master|promotion|praktikum)|ich (?:leite|führe|besitze) (?:eine?n?|mein)`,
    ),
    cue(
      'fact',
      `${ich('spreche|sprechen')} (?!(?:mit|von|über)(?!\\p{L}))|${ich('esse|trinke|rauche')} {adv}(?:kein|keine|keinen|nur|nicht|vegan|vegetarisch)`,
    ),
    cue(
      'fact',
      `${ich('habe|hab')} {adv}(?:am|im) [^,?]{1,30} geburtstag|ich (?:wiege|trage (?:eine )?(?:brille|größe|kontaktlinsen)|fahre einen?)|${ich('ernähre')} mich`,
    ),
    cue(
      'fact',
      `${ich('bin')} {adv}(?:(?:überzeugte[rs]?|strenge[rs]?|gläubige[rs]?|gelernte[rs]?|ausgebildete[rs]?|selbstständige[rs]?|freiberufliche[rs]?|ein|eine|kein|keine) ){0,2}(?:veganer(?:in)?|vegan|vegetarier(?:in)?|vegetarisch|pescetarier(?:in)?|muslim(?:in)?|muslima|christ(?:in)?|jude|jüdin|katholisch|evangelisch|buddhist(?:in)?|atheist(?:in)?|rentner(?:in)?|in rente|pensioniert|selbstständig|selbständig|freiberuflich|arbeitslos|schwanger|linkshänder(?:in)?|farbenblind|schwerhörig|gehörlos|blind|legastheniker(?:in)?|autist(?:in)?|student(?:in)?|schüler(?:in)?|azubi|beamter|beamtin|deutsche[rs]?|österreicher(?:in)?|schweizer(?:in)?)`,
    ),
    {
      category: 'fact',
      importance: 7,
      pattern:
        /^(?:[Ii]ch\s+bin|bin\s+ich)\s+(?:(?:seit \S+ \p{L}+|von Beruf|eigentlich|auch|\p{Ll}+e[rs]?|kein|keine|ein|eine)\s+){0,2}(?!Ihnen|Dir)\p{Lu}\p{L}+(?:in|er|ent|ist|or|eur|ant|arzt|mann|frau|wirt|ärztin|kraft|leiter|chef|coach|koch|Arzt|manager|designer|ing|loge|graf|nom)(?!\p{L})/u,
    },
    cue(
      'fact',
      '{my} (?:\\p{L}+ )?(?:geburtstag|e-?mail(?:-?adresse)?|telefonnummer|handynummer|nummer|adresse|heimat(?:stadt)?|zeitzone|pronomen|beruf|job|arbeitgeber|nationalität|staatsangehörigkeit|muttersprache|blutgruppe|schuhgröße|körpergröße|größe|alter|studienfach|sternzeichen|postleitzahl|auto) (?:ist|sind|lautet|war)',
    ),
    cue(
      'event',
      `(?:ich|wir) (?:habe|hab|haben) (?:[^,.?]{1,40} )?vor(?=,| )|${ich('plane|planen|beabsichtige')}(?=,? \\S)|(?:ich|wir) (?:habe|haben) [^?]{2,70}(?:gebucht|reserviert)|{my} (?:plan|ziel|traum) ist`,
    ),
    cue('event', `(?:{soon}),? (?:${going}) (?:ich|wir)(?! (?:das|es|dir|mal|dich))`),
    cue('event', `(?:{soon}),? (?:ich|wir) (?:${going})(?! (?:das|es|dir|mal|dich))`),
    cue(
      'event',
      `(?:ich|wir) (?:${going})(?! (?:das|es|dir|mal|dich))(?=[^?]{0,100}?\\s(?:{soon})(?!\\p{L}))`,
    ),
    cue(
      'event',
      '{my} (?:\\p{L}+ )?(?:flug|hochzeit|prüfung|operation|termin|reise|urlaub|vorstellungsgespräch|umzug|abschluss) (?:ist|beginnt|steht)',
    ),
    cue(
      'pattern',
      '(?:{often}) (?!habe|bin|war|hatte|würde|bekomme|kriege|wollte|hätte|wäre)\\p{L}+ (?:ich|wir)',
    ),
    cue(
      'pattern',
      '(?:ich|wir) (?!habe|hab|haben|bin|war|hatte|würde|bekomme|kriege|wollte|hätte|wäre|wurde|musste|möchte|dachte|sagte|ging)\\p{L}+(?=[^?]{0,90}?\\s(?:{often})(?!\\p{L}))(?! (?:immer |oft )?(?:diesen|den|das|es|einen) (?:fehler|gesagt))',
    ),
    cue(
      'pattern',
      '(?:ich|wir) (?:pflege|neige dazu|habe die (?:an)?gewohnheit|bin es gewohnt|tendiere dazu|bin (?:ein )?(?:frühaufsteher|nachteule|morgenmensch))',
    ),
    // Transitions and lasting facts in general.
    cue(
      'relationship',
      '{my} (?:\\p{L}+ ){0,2}?(?:{kin})(?: \\p{L}+)? (?:ist|sind|hat|haben|wurde|wird|zieht|arbeitet|lebt|wohnt|verträgt|isst|trinkt|nimmt|darf|kann|kommt|heiratet|studiert|braucht|bekommt|fährt|lernt)',
    ),
    cue(
      'fact',
      '(?:(?:ich|wir) (?:bin|sind|habe|hab|haben)|(?:bin|sind|habe|hab|haben) (?:ich|wir)) (?:[^?]{0,70} )?(?:umgezogen|gezogen|eingezogen|ausgezogen|gekündigt|geheiratet|getrennt|geschieden|gewechselt|angefangen|begonnen|aufgehört|gekauft|verkauft|adoptiert|abgeschlossen|bestanden|verloren|befördert|geworden|eingestellt|entlassen|umgestiegen|beigetreten|ausgetreten|operiert|bekommen|gegründet|übernommen|gemietet|angemeldet|verlobt|diagnostiziert|abgesagt|verschoben|zurückgezogen|gewonnen|beendet|verlassen)(?= |$|,)',
    ),
    cue(
      'fact',
      '{my} (?!(?:\\p{L}+ )?(?:frage|problem|code|fehler|skript|programm|text|idee|meinung|eindruck|computer) )(?:[\\p{L}-]+ ){0,2}?[\\p{L}-]+ (?:ist|sind|war|hat|haben|kostet|beginnt|startet|endet|läuft|heißt|liegt|steht|dauert|fährt|wurde|wird)(?! (?:falsch|kaputt|leer|nicht definiert|das hier))',
    ),
    cue(
      'fact',
      '(?:ich|wir) (?:(?:jetzt|gerade|aktuell|seit [^,]{1,20}) )?(?:nehme|nehmen|fahre|fahren|trage|besitze|besitzen|nutze|verdiene|zahle|zahlen|miete|mieten|studiere|unterrichte|leite|betreue|pflege|rauche|trinke|esse|vertrage|darf|pendle|trainiere|habe (?:eine?n?|zwei|drei|kein\\p{L}*|seit)|haben (?:eine?n?|zwei|drei|kein\\p{L}*)|bin (?:seit|in|bei|am|im|ein|eine|gelernt\\p{L}*|von beruf)|arbeite|lebe|wohne|gehe (?:zur|zum|in die|auf die)|ziehe|wechsle|fange|starte|höre)(?! (?:mich (?:gerade|immer)|das|es|dir|dich|diesen|diese|dieses|ein problem|eine frage|einen fehler))(?= )',
    ),
    cue(
      'preference',
      '(?:ich|wir) spielen? (?:seit [^,.]{3,30} )?(?:gitarre|klavier|geige|schlagzeug|flöte|fußball|tennis|handball|volleyball|schach|cello|bass|trompete)',
    ),
    cue(
      'fact',
      '(?:bin|hab|habe) (?=(?:vegetarier|veganer|vegan|schwanger|zwei|drei|eine? |seit |allergisch|laktose|diabetiker|student|lehrer|rentner|single|verheiratet|geschieden))',
    ),
  ],
}
