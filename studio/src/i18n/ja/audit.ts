import type { Catalogue } from '../catalogue.ts'

export const audit: Catalogue['audit'] = {
  title: '監査',
  description: '誰がどの記憶に何をしたかを、新しい順に。ID だけを含み、本文は含みません。',
  onlySuperadmins: 'このページは superadmin 用です。',
  log: 'ログ',
  when: '日時',
  who: '実行者',
  here: 'このマシン上',
  what: '操作',
  whose: '所有者',
  toWhat: '対象',
  from: '開始',
  until: '終了',
  clear: 'フィルターを解除',
  andMore: '{count, plural, other {ほか # 件}}',
  empty: 'まだ何も行われていません',
  nothingFits: '該当するものがありません',
  notYet: '最近の項目にはまだありません。さらに古い項目があります。',
}
