import type { Catalogue } from '../catalogue.ts'

export const audit: Catalogue['audit'] = {
  title: 'Auditoria',
  description:
    'Quem fez o quê com qual memória, o mais novo primeiro. Contém identificadores, nunca texto.',
  onlySuperadmins: 'Esta página é para superadmins.',
  log: 'Registro',
  when: 'Quando',
  who: 'Quem',
  here: 'na própria máquina',
  what: 'O que foi feito',
  whose: 'De quem',
  toWhat: 'Com o quê',
  from: 'De',
  until: 'Até',
  clear: 'Limpar filtros',
  andMore: '{count, plural, one {e mais #} other {e mais #}}',
  empty: 'Nada foi feito ainda',
  nothingFits: 'Nada corresponde',
  notYet: 'Nada ainda entre as últimas entradas. Há outras mais antigas.',
}
