import type { Catalogue } from '../catalogue.ts'

export const review: Catalogue['review'] = {
  title: 'Prüfung',
  description:
    'Was auf einen Menschen wartet: Erinnerungen, die wie Anweisungen aussehen, und solche, die einander widersprechen.',
  suspects: 'Verdächtig',
  conflicts: 'Widersprüche',
  suspectsHelp:
    'Diese sehen wie Anweisungen an ein Modell aus oder kommen von dort, wo jeder schreiben könnte. Keine wird benutzt, bevor jemand zugestimmt hat.',
  suspectsEmpty: 'Nichts wartet auf Zustimmung',
  suspectsEmptyHelp:
    'Was wie eine Anweisung an ein Modell aussieht, erscheint hier, bevor es benutzt wird.',
  conflictsHelp:
    'Beide Seiten sind in Gebrauch, und weder Regeln noch ein Modell konnten sagen, welche gilt. Ein Mensch kann es.',
  conflictsEmpty: 'Nichts widerspricht sich',
  conflictsEmptyHelp:
    'Sagt jemand etwas anderes als früher, und ist nicht klar, was gilt, erscheinen beide Seiten hier.',
  approve: 'Zustimmen',
  reject: 'Ablehnen',
  rejectTitle: 'Diese Erinnerung ablehnen?',
  rejectHelp:
    'Sie wird vergessen und aus dem Gesagten nicht noch einmal gelernt. Das lässt sich zurücknehmen.',
  approved: 'Zugestimmt. Ab jetzt wird sie benutzt.',
  rejected: 'Abgelehnt. Sie ist vergessen.',
  edit: 'Bearbeiten',
  open: 'Erinnerung öffnen',
  older: 'Früher gesagt',
  newer: 'Sagt es anders',
  keepThis: 'Diese behalten',
  keepTitle: 'Diese behalten, anstelle der anderen?',
  keepHelp:
    'Die andere wird ersetzt: nicht mehr benutzt, aber im Verlauf aufbewahrt. Das lässt sich zurücknehmen.',
  kept: 'Geklärt. Die andere ist ersetzt.',
  merge: 'Zusammenführen',
  mergeTitle: 'Eine Erinnerung an die Stelle beider setzen',
  mergeHelp:
    'Sie behält die Quellen beider. Die andere wird ersetzt, und alles lässt sich zurücknehmen.',
  mergeWords: 'Was sie ab jetzt sagt',
  mergeInto: 'Welche Erinnerung bleibt',
  merged: 'Zusammengeführt.',
  both: 'Beides gilt',
  bothHelp: 'Sie widersprechen sich nicht: Beide bleiben in Gebrauch, wie sie sind.',
  bothDone: 'Beide bleiben in Gebrauch.',
  sources: 'Herkunft',
  said: '{who}, am {when}',
  sourceGone: '{count, plural, one {# Beitrag ist} other {# Beiträge sind}} nicht mehr aufbewahrt.',
  noSource: 'Nicht aus einem Gespräch. Geschrieben von: {source}',
  openTurn: 'Gespräch öffnen',
  created: 'Aufbewahrt seit {when}',
  stated: '{count, plural, one {einmal gesagt} other {#-mal gesagt}}',
  readOnly: 'Ansehen ist erlaubt, aber zum Klären braucht es eine andere Rolle.',
}
