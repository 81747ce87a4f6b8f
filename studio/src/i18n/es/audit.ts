import type { Catalogue } from '../catalogue.ts'

export const audit: Catalogue['audit'] = {
  title: 'Auditoría',
  description:
    'Quién hizo qué con qué recuerdo, lo más nuevo primero. Contiene identificadores, nunca texto.',
  onlySuperadmins: 'Esta página es para superadmins.',
  log: 'Registro',
  when: 'Cuándo',
  who: 'Quién',
  here: 'en la propia máquina',
  what: 'Qué se hizo',
  whose: 'De quién',
  toWhat: 'Con qué',
  from: 'Desde',
  until: 'Hasta',
  clear: 'Quitar filtros',
  andMore: '{count, plural, one {y # más} other {y # más}}',
  empty: 'Todavía no se ha hecho nada',
  nothingFits: 'Nada coincide',
  notYet: 'Nada todavía entre las últimas entradas. Las hay más antiguas.',
}
