import type { Catalogue } from '../catalogue.ts'

export const audit: Catalogue['audit'] = {
  title: '审计',
  description: '谁对哪条记忆做了什么，最新的在前。只含标识，从不含文本。',
  onlySuperadmins: '此页面供 superadmin 使用。',
  log: '日志',
  when: '时间',
  who: '操作者',
  here: '在本机上',
  what: '操作',
  whose: '所有者',
  toWhat: '对象',
  from: '从',
  until: '到',
  clear: '清除筛选',
  andMore: '{count, plural, other {还有 # 个}}',
  empty: '还没有任何操作',
  nothingFits: '没有符合的内容',
  notYet: '最近的记录中还没有。还有更早的记录。',
}
