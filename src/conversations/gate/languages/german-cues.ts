/** German. The position of the verb varies, so most cues match either order. */
import { createSpacedCueNotation } from '../cue-notation.ts'
import type { CueTable } from '../types.ts'

const { cue, opening } = createSpacedCueNotation({
  my: 'mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?',
  past: 'gestern|vorgestern|neulich|letztens|letzte[nrsm]? (?:\\S+)|vorige[nrsm]? \\S+|vergangene[nrsm]? \\S+|damals|früher|kürzlich|vorhin|beim letzten mal|vor \\S+ (?:tagen|wochen|monaten|jahren|stunden)|am (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|im (?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)',
  what: 'was|wann|wo|wohin|woher|wer|wen|wem|wie|wieso|warum|weshalb|welche[nrsm]?|wie\\s?viele?|wie oft|wie lange|worüber|wovon|woran|worauf',
  agreed:
    'besprochen|beschlossen|entschieden|gesprochen|geredet|vereinbart|ausgemacht|geeinigt|geplant|diskutiert|festgelegt|überlegt|gelöst|verworfen|aufgehört|stehengeblieben|stehen geblieben|unterhalten|abgemacht',
  kin: 'frau|mann|partner(?:in)?|freund(?:in|e)?|mutter|mama|vater|papa|eltern|sohn|tochter|kind(?:er)?|bruder|schwester|geschwister|oma|opa|großeltern|tante|onkel|familie|chef(?:in)?|kolleg(?:e|en|in)|hund|katze|kater|haustier|neffen?|nichte|nachbar(?:in|n)?',
  leisure:
    'restaurant|café|film|filme|serie|serien|buch|bücher|roman|rezept|rezepte|gericht|essen|abendessen|mittagessen|nachtisch|wein|geschenk|geschenkidee|hotel|ausflug|ausflugsziel|reise|reiseziel|urlaub|musik|lied|album|playlist|podcast|podcasts|spiel|hobby|outfit|aktivität(?:en)?|wanderung|kurs|konzert',
  work: 'code|funktion|skript|programm|abfrage|tests?|klasse|variable[n]?|array|liste|schleife|methode|regex|repo|branch|commit|build|server|container|docker|git|api|app|datenbank|tabelle|spalte|datei|ordner|paket|bibliothek|framework|modul|komponente|algorithmus|fehler|fehlermeldung|bug|log|logs|aufsatz|absatz|satz|entwurf|hausaufgabe[n]?|gleichung|formel|beweis|lösung|python|java|javascript|sql|css|html|rechner|computer|browser|eingabe|ausgabe|befehl',
})

const GOING_WRONG = 'falsch|verkehrt|vergessen|übersehen|hier'

export const GERMAN_CUES: CueTable = {
  language: 'de',
  void: opening(
    '(?:und |aber )?(?:wenn|falls|angenommen|stell dir vor|nehmen wir an) (?:ich|wir|du|dir)',
    '(?:bitte |und )?(?:merke? dir|vergiss nicht|denk daran|denk dran|behalte?|notiere?)',
    '(?:bitte )?(?:übersetze?|korrigiere?|formuliere|umschreibe)',
  ),
  ownWords: [
    cue(
      '(?:such|suche|finde|zeig|zeige) (?:\\S+ ){0,3}?(?:nachricht|notiz|text|stelle)(?: \\S+)?,? (?:in der|in dem|wo|mit der) ich',
    ),
    cue(
      '{my} (?:genaue[nrs]?|exakte[nrs]?|eigene[nrs]?|ursprüngliche[nrs]?|damalige[nrs]?) (?:worte|wörter|wortlaut|formulierung|nachricht|text|aussage)',
      'in meinen eigenen',
    ),
    cue(
      '(?:habe|hab|hatte) ich (?:\\S+ ){0,6}?(?:wortwörtlich|wörtlich|wort für wort|genau|exakt) (?:\\S+ ){0,6}?(?:gesagt|geschrieben|formuliert|ausgedrückt|getippt|gefragt)',
      '{work}',
    ),
    cue(
      '(?:zitiere?|wiederhole?|kopiere?) (?:\\S+ ){0,3}?was ich (?:\\S+ ){0,6}?(?:gesagt|geschrieben|erzählt|getippt)',
    ),
    cue(
      'was (?:habe|hab|hatte) ich (?:\\S+ ){0,6}?(?:gesagt|geschrieben|getippt)',
      `${GOING_WRONG}|{work}`,
    ),
    cue('wie (?:habe|hab|hatte) ich (?:\\S+ ){0,6}?(?:formuliert|ausgedrückt)'),
    cue(
      '(?:zeig|zeige|such|suche|finde|gib)(?: mir)? (?:\\S+ ){0,3}?(?:nachricht|text|satz|worte),? (?:die|den|der) ich dir',
    ),
  ],
  whoAmI: [
    cue('was für (?:ein|eine) (?:mensch|person|typ|frau|mann) (?:bin ich|ich bin)'),
    cue('wie (?:heiße|heiß|heisse) ich|wie ist mein (?:\\S+ )?name|was ist mein (?:\\S+ )?name'),
    cue('wer (?:bin ich|ich bin)', 'zitier|spreche|rede'),
    cue(
      'über mich (?:\\S+ )?(?:weißt|weisst|gespeichert|gemerkt|gelernt|erfahren|notiert)|(?:weißt|weisst|kennst|erinnerst) du (?:\\S+ ){0,4}?(?:über|von) (?:mich|mir)|(?:weißt|hast) du (?:\\S+ ){0,3}?über mich',
    ),
    cue(
      '(?:erzähl|erzähle|sag|sage) mir (?:\\S+ ){0,3}?über mich|beschreibe? mich|fass(?:e)? mich zusammen|stell mich vor|kennst du mich',
    ),
    cue('wie alt (?:bin ich|ich bin)|wann (?:bin|wurde) ich geboren'),
    cue('wo (?:arbeite|wohne|lebe) ich|woher (?:komme|stamme) ich|wo ich (?:arbeite|wohne|lebe)'),
    cue(
      'was (?:arbeite ich|mache ich beruflich|bin ich von beruf|ist mein (?:beruf|job))|welchen (?:beruf|job) habe ich|welche sprachen spreche ich',
    ),
    cue('(?:kurz)?(?:biografie|bio|porträt|vorstellung) (?:von|über) (?:mir|mich)'),
  ],
  earlierTalk: [
    cue(
      'was war (?:das|unser|die) (?:\\S+ )?(?:ergebnis|fazit|entscheidung|plan|beschluss) (?:wegen|zu|zum|zur|bei|mit|für)',
      '{work}|krieg|wahl',
    ),
    cue('(?:haben|hatten|sind) wir (?:\\S+ ){0,3}?(?:schon|bereits|jemals|eigentlich) '),
    cue(
      'wie weit (?:sind|waren|kamen) wir|was (?:ist|wurde) (?:\\S+ ){0,4}?aus (?:der|dem|unser\\S*)',
    ),
    cue(
      '(?:was|wie|welche[nrsm]?|wo|wann|warum|wieso|wer|worauf|wozu) (?:\\S+ ){0,4}?(?:hatten|waren|wollten) wir',
      'hier|{work}',
    ),
    cue(
      '(?:was|wie|welche[nrsm]?|wo|wann|warum|wieso|worauf|wozu) (?:\\S+ ){0,4}?(?:haben|sind) wir (?:\\S+ ){1,8}?[\\p{L}]*ge[\\p{L}]{2,}(?:t|en)(?! \\S)',
      'hier|{work}|menschen',
    ),
    cue(
      'du (?:meintest|sagtest|wolltest|empfahlst|erwähntest)|(?:meintest|sagtest|wolltest|erwähntest) du',
    ),
    cue(
      '(?:wie|als|von) (?:beim )?letzte[ns]? mal|wo (?:wir|ich) (?:{past}) (?:waren|war|aufgehört|stehen)',
    ),
    cue('(?:haben|hatten|sind|waren) wir (?:\\S+ ){0,8}?(?:{agreed}|stehen)'),
    cue(
      '(?:was|wie|wo|worüber|wovon|wofür|den|die|das|der|weshalb|warum|worauf) wir (?:\\S+ ){0,6}?(?:{agreed})',
    ),
    cue(
      'weiter(?:machen|zumachen|reden), wo|wo wir (?:\\S+ ){0,3}?(?:aufgehört|stehen\\s?geblieben|waren)|da weiter',
    ),
    cue(
      '(?:unser(?:e[mnrs]?)?|in der|im) (?:letzte[nrsm]?|vorige[nrsm]?|früher(?:e[nrsm]?)|gestrige[nrsm]?) (?:gespräch|sitzung|unterhaltung|chat|diskussion|session)',
    ),
    cue(
      '(?:hast|hattest) du (?:mir )?(?:\\S+ ){0,8}?(?:empfohlen|erzählt|erwähnt|vorgeschlagen|geraten|versprochen|genannt)',
      '{work}',
    ),
    cue(
      'du (?:mir )?(?:\\S+ ){0,6}?(?:empfohlen|erzählt|erwähnt|vorgeschlagen|geraten|versprochen) (?:hast|hattest)',
      '{work}',
    ),
    cue(
      'du hattest (?:mir )?(?:\\S+ ){0,8}?(?:empfohlen|erzählt|erwähnt|vorgeschlagen|geraten|versprochen|gesagt|gezeigt)',
      '{work}',
    ),
    cue('(?:{past}) (?:hast|hattest) du|(?:hast|hattest) du (?:mir )?(?:{past})', '{work}'),
    cue(
      'wie (?:ich )?(?:schon |bereits |ja |dir )*(?:erwähnt|gesagt|erzählt|besprochen|geschrieben|vereinbart)|ich (?:\\S+ ){0,3}?(?:hatte|habe) (?:\\S+ )?(?:dir (?:schon |bereits |mal )*(?:erzählt|gesagt))',
    ),
    cue(
      '(?:erinnerst du dich|weißt du noch|weisst du noch),? (?:an |als |wie |was |wo |wann )(?:\\S+ ){0,4}?(?:wir|unser\\S*|das letzte)',
    ),
  ],
  ownPast: [
    cue(
      '(?:wann|wo|wohin|wen|wem|welche[nrsm]?|wie\\s?viele?|wie oft|wie lange|was) (?:\\S+ ){0,6}?(?:habe|hab|hatte|war|bin) ich',
      `${GOING_WRONG}|{work}|zu tun`,
    ),
    cue(
      '(?:{what}) (?:\\S+ ){0,4}?(?:war|habe|hab|hatte|bin) ich (?:\\S+ ){0,6}?(?:zuletzt|letzte[nrsm]?|gestern|vorgestern|neulich|damals|schon|bisher|gekauft|gegessen|gemacht|besucht|gefahren|gewesen|getroffen|bezahlt|gelaufen|gelesen|gesehen|genannt|erzählt|erwähnt|gegangen)',
      `${GOING_WRONG}|{work}`,
    ),
    cue('(?:habe|hab|hatte) ich (?:dir )?(?:\\S+ ){0,3}?(?:erzählt|erwähnt)', '{work}'),
    cue(
      'wann (?:war|habe|bin) (?:ich )?(?:\\S+ ){0,2}?(?:zuletzt|das letzte mal)|wann war (?:{my}) letzte',
    ),
  ],
  ownFact: [
    cue(
      '(?:was|wer|wo|wann|welche[nrsm]?|wie (?:groß|alt|lang|schwer|viel)) (?:\\S+ ){0,6}?(?:{my}) (?:[\\p{L}]+ )?(?:{kin})',
      '{work}|soll|warum',
    ),
    cue(
      '(?:wie|was|wer|wo|wann|welche[nrsm]?) (?:\\S+ )?(?:hieß|hießen|war|waren|hatte|hat|ist|heißt) (?:\\S+ )?(?:nochmal|noch mal|noch gleich|gleich nochmal)',
      '{work}|unterschied|befehl',
    ),
    cue(
      '(?:wir|ich) (?:immer|meistens|normalerweise|sonst|üblicherweise) [\\p{L}]+(?:en|e)(?! \\S)',
    ),
    cue('du (?:kennst|weißt) (?:ja |doch )*(?:{my}|was ich|wie ich)'),
    cue(
      '(?:was|wer|wo|wann|welche[nrsm]?|wie (?:alt|lang|groß|hoch|weit|heißt|heißen)) (?:\\S+ )?(?:ist|sind|war|waren|hat|haben|heißt|heißen|wohnt|wohnen|lebt|leben|lautet)?\\s?(?:nochmal |noch mal |eigentlich )*(?:{my}) ',
      '{work}|falsch|problem|sollte',
    ),
    cue('(?:erinnerst du dich|weißt du noch|weisst du noch|kannst du dich (?:\\S+ )?erinnern)'),
    cue('(?:weißt|weisst|kennst) du (?:\\S+ ){0,5}?(?:{my}) ', '{work}|warum|wieso'),
    cue(
      '(?:bin|habe) ich (?:\\S+ ){0,4}?(?:allergi\\S*|allergisch|vegetarier(?:in)?|verheiratet|unverträglichkeit(?:en)?)',
    ),
    cue(
      '(?:{what}) (?:\\S+ ){0,4}?(?:mag|trinke|esse|bevorzuge|nutze|fahre|nehme|trage) ich (?:\\S+ ){0,3}?(?:normalerweise|üblicherweise|meistens|immer|am liebsten|gerne?|nicht)',
      '{work}',
    ),
    cue(
      '(?:{my}) (?:übliche[nrsm]?|gewohnte[nrsm]?|stamm\\S+)|das übliche|wie immer(?: bitte)?(?! \\S)',
    ),
    cue('(?:erinnere? mich|hilf mir) (?:\\S+ )?(?:an|daran,) (?:\\S+ ){0,3}?(?:{my})', '{work}'),
  ],
  advice: [
    cue(
      '(?:für|zu) (?:{my}) (?:{kin}|rücken|haut|wohnung|garten)(?! \\S)|(?:wäre|ist) was für (?:mich|uns|{my})',
      '{work}',
    ),
    cue(
      '(?:such|finde|buch|buche|empfiehl)(?:e)? (?:mir|uns) (?:\\S+ ){1,4}?(?:in (?:der|meiner|unserer) nähe|in meiner gegend|bei mir)',
    ),
    cue(
      'was (?:soll|sollte|könnte|kann|koche|esse|ziehe|schenke|schau\\S?|lese|koch) (?:ich|wir)(?: \\S+){0,6}?\\s?(?:kochen|essen|anziehen|schenken|lesen|anschauen|ansehen|schauen|gucken|backen|trinken|bestellen|unternehmen|mitbringen|mitnehmen|einpacken|spielen|hören|abend|wochenende)',
      '{work}',
    ),
    cue(
      'was (?:ich|wir) (?:\\S+ ){0,7}?(?:kochen|essen|anziehen|schenken|lesen|anschauen|ansehen|unternehmen|mitbringen) (?:soll|sollte|könnte|kann|sollen|könnten)',
      '{work}',
    ),
    cue('was (?:koche|esse|schenke|lese|trinke) ich|was (?:ziehe|schaue) ich (?:\\S+ ){0,4}?an'),
    cue(
      '(?:wohin|wo) (?:soll|sollte|sollen|sollten|könnte|könnten|kann|können) (?:ich|wir) (?:\\S+ ){0,8}?(?:urlaub|reisen|fahren|essen|übernachten|feiern|hin|fliegen)',
      '{work}',
    ),
    cue(
      '(?:empfiehl|empfehle|empfehlen|empfehlung(?:en)?|schlag|vorschlag|vorschläge|vorschlagen|such|such(?:e)?|ideen?|tipps?|geschenkideen?) (?:\\S+ ){0,6}?(?:{leisure})',
      '{work}',
    ),
    cue(
      '(?:empfiehl|empfehle|empfehlen|schlag|such|tipps?|ideen?) (?:\\S+ ){0,8}?(?:für mich|für uns|zu mir passt|mir gefallen|(?:{my}))',
      '{work}',
    ),
    cue(
      '(?:zu mir|mir) (?:passt|passen|gefallen (?:könnte|würde))|(?:jemanden?|leute) wie mich|für mich (?:geeignet|passend|gut)',
      '{work}',
    ),
    cue('(?:plane?|organisiere?) (?:{my}|mir|uns) '),
    cue('(?:{leisure})(?:\\S*) (?:\\S+ ){0,3}?für (?:{my}) '),
    cue(
      '(?:erstelle?|mach|mache|schreib|schreibe|gib)(?: mir| uns)? (?:\\S+ ){0,3}?(?:trainingsplan|essensplan|ernährungsplan|reiseplan|lernplan|packliste|einkaufsliste|wochenplan)',
    ),
    cue('(?:reservier|reserviere|buch|buche|bestell|bestelle) (?:mir|uns|{my}) '),
    cue('(?:darf|kann) ich (?:das|dies|davon) (?:essen|trinken)|würde mir (?:\\S+ ){1,4}?gefallen'),
    cue('soll(?:te)? ich (?:\\S+ ){0,8}?(?:annehmen|kündigen|umziehen|kaufen)', '{work}'),
  ],
}
