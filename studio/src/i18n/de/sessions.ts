import type { Catalogue } from '../catalogue.ts'

export const sessions: Catalogue['sessions'] = {
  title: 'Sitzungen',
  description: 'Was gesagt wurde, und was daraus gelernt wurde.',
  list: 'Gespräche',
  search: 'Im Gesagten suchen',
  empty: 'Noch keine Gespräche aufbewahrt',
  emptyHelp:
    'Was durch das Gateway geht, wird hier aufbewahrt, solange das Gedächtnis an ist, ebenso, was Programme abgeben.',
  nothingFound: 'Das hat niemand gesagt',
  nothingFoundHelp: 'Andere Wörter führen vielleicht zum Ziel. Gesucht werden ganze Wörter.',
  turns: '{count, plural, one {# Beitrag} other {# Beiträge}}',
  waiting: '{count, plural, one {# wartet} other {# warten}}',
  failed: '{count, plural, one {# fehlgeschlagen} other {# fehlgeschlagen}}',
  distilledMark: 'Ausgewertet',
  choose: 'Ein Gespräch wählen',
  chooseHelp: 'Hier erscheint es, mit dem, was aus jedem Beitrag gelernt wurde.',
  back: 'Alle Gespräche',
  gone: 'Von diesem Gespräch ist nichts aufbewahrt',
  goneHelp:
    'Es wurde vergessen oder gehört einem anderen Inhaber. Was daraus gelernt wurde, kann noch da sein.',
  user: 'Nutzer: {user}',
  span: '{from} bis {to}',
  distil: 'Jetzt auswerten',
  forgetSession: 'Gespräch vergessen',
  forgetSessionTitle: 'Dieses Gespräch vergessen?',
  forgetSessionHelp:
    'Was gesagt wurde, wird endgültig entfernt, und auch, was daraus noch gelernt werden sollte. Das lässt sich nicht zurücknehmen.',
  alsoMemories: 'Auch das daraus Gelernte in den Papierkorb legen',
  sessionForgotten: '{count, plural, one {# Beitrag ist} other {# Beiträge sind}} endgültig weg.',
  sessionForgottenWith:
    '{count, plural, one {# Beitrag ist} other {# Beiträge sind}} endgültig weg, und {memories, plural, one {# Erinnerung liegt} other {# Erinnerungen liegen}} im Papierkorb.',
  bringBack: 'Erinnerungen zurückholen',
  digest: 'Zusammenfassung',
  openDigest: 'In der Zeitleiste öffnen',
  learned: 'Gelernt',
  learnedElsewhere: 'Hier gelernt, aber nicht aus einem gezeigten Beitrag',
  learnedPartly: 'Nur die neuesten {count} Erinnerungen dieses Gesprächs sind zu sehen.',
  openMemory: 'Erinnerung öffnen: {content}',
  waitingTitle: 'Wartet aufs Lernen',
  waitingHelp:
    '{count, plural, one {# Dialogschritt wartet} other {# Dialogschritte warten}}. Ausgewertet wird, wenn das Gespräch eine Weile ruht.',
  deadTitle: 'Daraus konnte nicht gelernt werden',
  deadHelp:
    '{count, plural, one {# Dialogschritt ist} other {# Dialogschritte sind}} zu oft fehlgeschlagen und {count, plural, one {wartet} other {warten}} auf eine Entscheidung.',
  deadBecause:
    '{attempts, plural, one {Einmal fehlgeschlagen} other {#-mal fehlgeschlagen}}: {error}',
  unknownError: 'Grund unbekannt',
  retry: 'Noch einmal versuchen',
  retryAll: 'Alle noch einmal versuchen',
  retried:
    '{count, plural, one {# Dialogschritt wird} other {# Dialogschritte werden}} noch einmal versucht.',
  goToTurn: 'Zum Beitrag',
  turnGone: 'Der Beitrag, den der Link nennt, ist nicht mehr aufbewahrt.',
  markWaiting: 'wartet',
  markDead: 'fehlgeschlagen',
  roleUser: 'Nutzer',
  roleAssistant: 'Assistent',
  roleSystem: 'System',
  roleTool: 'Werkzeug',
  transcript: 'Mitschrift',
  unfold: 'Ganz zeigen',
  fold: 'Weniger zeigen',
  more: 'Was mit diesem Beitrag möglich ist',
  copyLink: 'Link dazu kopieren',
  linkCopied: 'Der Link ist kopiert.',
  edit: 'Berichtigen',
  editTitle: 'Berichtigen, was gesagt wurde',
  editHelp: 'Daraus wird neu gelernt. Was vorher gelernt wurde, bleibt, bis es jemand ändert.',
  edited: 'Berichtigt. Daraus wird neu gelernt.',
  content: 'Was gesagt wurde',
  changedMeanwhile:
    'Inzwischen hat jemand anderes das geändert. Die fremde Fassung steht darunter; nichts geht verloren.',
  takeTheirs: 'Fremde übernehmen',
  saveMine: 'Eigene speichern',
  forget: 'Vergessen',
  forgetTitle: 'Diesen Beitrag vergessen?',
  forgetHelp: 'Er wird endgültig entfernt. Das lässt sich nicht zurücknehmen.',
  forgetLearned:
    '{count, plural, one {# Erinnerung wurde} other {# Erinnerungen wurden}} daraus gelernt:',
  alsoLearned: 'Auch diese in den Papierkorb legen',
  forgotten: 'Der Beitrag ist endgültig weg.',
  forgottenWith:
    'Der Beitrag ist endgültig weg, und {count, plural, one {# Erinnerung liegt} other {# Erinnerungen liegen}} im Papierkorb.',
  outcomeDistilled:
    'Ausgewertet: {made, plural, =0 {nichts Neues} one {# Erinnerung neu oder geändert} other {# Erinnerungen neu oder geändert}}, {known, plural, one {# schon bekannt} other {# schon bekannt}}.',
  outcomeReview: '{count, plural, one {# davon wartet} other {# davon warten}} auf die Prüfung.',
  outcomeIdentity:
    '{count, plural, one {# Aussage} other {# Aussagen}} darüber, wer die Person ist.',
  outcomePending:
    '{count, plural, one {# Dialogschritt wartet} other {# Dialogschritte warten}} noch.',
  outcomeNoSignals: 'Es gab nichts Neues zu lernen.',
  outcomeNoModel:
    'Kein Modell ist zum Auswerten genannt, deshalb wartet das Gesagte. In den Einstellungen lässt sich eines als coreModel nennen.',
  outcomeLowNovelty: 'All das war schon bekannt, deshalb wurde kein Modell gefragt.',
  outcomeChanged: 'Das Gespräch ging inzwischen weiter. Es wird ausgewertet, sobald es ruht.',
  outcomeExtraction: 'Für diesen Inhaber ist das Lernen abgeschaltet.',
  outcomeNothing: 'Das Modell fand nichts, was sich zu merken lohnt.',
  outcomeNoTurns: 'Was gesagt wurde, ist nicht mehr aufbewahrt.',
  outcomeDead:
    '{count, plural, one {# Dialogschritt ist} other {# Dialogschritte sind}} jetzt zu oft fehlgeschlagen und {count, plural, one {wartet} other {warten}} unten.',
  outcomeSkipped: 'Nicht ausgewertet: {reason}.',
  outcomeError:
    'Das Modell ist gescheitert: {reason}. Das Gesagte wartet und wird noch einmal versucht.',
  openSettings: 'Einstellungen öffnen',
}
