import type { Catalogue } from '../catalogue.ts'

export const audit: Catalogue['audit'] = {
  title: 'Protokoll',
  description:
    'Wer was mit welcher Erinnerung getan hat, Neuestes zuerst. Es enthält Kennungen, nie Text.',
  onlySuperadmins: 'Diese Seite ist für Superadmins.',
  log: 'Verzeichnis',
  when: 'Wann',
  who: 'Wer',
  here: 'am Rechner selbst',
  what: 'Was getan wurde',
  whose: 'Wessen',
  toWhat: 'Womit',
  from: 'Von',
  until: 'Bis',
  clear: 'Filter zurücksetzen',
  andMore: '{count, plural, one {und # weitere} other {und # weitere}}',
  empty: 'Noch wurde nichts getan',
  nothingFits: 'Nichts passt',
  notYet: 'Unter den letzten Einträgen noch nichts. Es gibt ältere.',
}
