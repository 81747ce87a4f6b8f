/** Pages, actions, memories and settings by name, from everywhere with Ctrl-K. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { api, data } from '../api/client.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { useSettingText } from '../pages/settings/setting-names.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import styles from './command-palette.module.css'
import { useMemorySetting } from './memory-setting.ts'
import { NAVIGATION } from './navigation.ts'
import { useOwner } from './search-params.ts'
import { useSession } from './session.tsx'
import { selectTheme } from './theme.ts'

type Command = {
  readonly id: string
  readonly icon: IconName
  readonly name: string
  /** The kind of the command, or a further name. */
  readonly note: string
  /** Further words that find it. */
  readonly words?: string
  readonly run: () => void
}

const MEMORIES_SHOWN = 6
const SETTINGS_SHOWN = 6
const QUERY_CHARACTERS_MIN = 2

export function CommandPalette({
  onClose,
  onShowHelp,
}: {
  onClose: () => void
  onShowHelp: () => void
}) {
  const { t } = useI18n()
  const listId = useId()
  const [text, setText] = useState('')
  const [current, setCurrent] = useState(0)
  const commands = useCommands(text.trim(), onShowHelp)
  const at = Math.min(current, commands.length - 1)
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) setCurrent((at + by + commands.length) % Math.max(1, commands.length))
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) run(commands[at])
    else return
    event.preventDefault()
  }
  useEffect(() => {
    document.getElementById(`${listId}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [listId, at])
  return (
    <Dialog isOpen onClose={onClose} title={t('palette.title')}>
      <input
        className={styles.input}
        type="text"
        role="combobox"
        aria-label={t('palette.search')}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={commands.length === 0 ? undefined : `${listId}-${at}`}
        placeholder={t('palette.search')}
        autoComplete="off"
        autoFocus
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setCurrent(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} className={styles.list} role="listbox" aria-label={t('palette.title')}>
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the input
          <div
            key={command.id}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={styles.option}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} size={16} />
            <span className={styles.name}>{command.name}</span>
            <span className={styles.note}>{command.note}</span>
          </div>
        ))}
      </div>
      {commands.length === 0 && <p role="status">{t('palette.nothing')}</p>}
    </Dialog>
  )
}

function useCommands(text: string, onShowHelp: () => void): readonly Command[] {
  const { t } = useI18n()
  const { can, signOut } = useSession()
  const owner = useOwner()
  const navigate = useNavigate()
  const memory = useMemorySetting(owner)
  const settingText = useSettingText()
  const open = (to: string, search: object = {}) =>
    void navigate({ to, search: { owner, ...search } } as never) // every page accepts these
  const pages = NAVIGATION.flat()
    .filter(({ needs }) => can(needs))
    .map(({ path, icon, name }) => ({
      ...{ id: path, icon, name: t(name), note: t('palette.page') },
      run: () => open(path),
    }))
  const note = t('palette.action')
  const actions: readonly (Command & { readonly isAllowed: boolean })[] = [
    {
      ...{ id: 'add', icon: 'add', name: t('memories.add'), note },
      isAllowed: can('write'),
      run: () => open('/studio/memories', { dialog: 'add' }),
    },
    {
      ...{ id: 'import', icon: 'import', name: t('memories.importTitle'), note },
      isAllowed: can('curate'),
      run: () => open('/studio/memories', { dialog: 'import' }),
    },
    {
      ...{ id: 'memory', icon: 'memories', note },
      name: t(memory.isOn === true ? 'palette.memoryOff' : 'palette.memoryOn'),
      isAllowed: can('curate') && memory.isOn !== undefined,
      run: () => void memory.set(memory.isOn !== true),
    },
    {
      ...{ id: 'light', icon: 'light', note },
      name: `${t('shell.theme')}: ${t('shell.themeLight')}`,
      isAllowed: true,
      run: () => selectTheme('light'),
    },
    {
      ...{ id: 'dark', icon: 'dark', note },
      name: `${t('shell.theme')}: ${t('shell.themeDark')}`,
      isAllowed: true,
      run: () => selectTheme('dark'),
    },
    {
      ...{ id: 'keys', icon: 'keyboard', name: t('shell.shortcuts'), note },
      isAllowed: true,
      run: onShowHelp,
    },
    {
      ...{ id: 'leave', icon: 'leave', name: t('shell.signOut'), note },
      isAllowed: true,
      run: () => void signOut(),
    },
  ]
  const isSearching = text.length >= QUERY_CHARACTERS_MIN
  const found = useQuery({
    queryKey: ['memories', owner, 'palette', text],
    queryFn: () =>
      data(
        api.GET('/api/memory', { params: { query: { owner, q: text, limit: MEMORIES_SHOWN } } }),
      ),
    enabled: isSearching,
    placeholderData: keepPreviousData,
  })
  const settings = useQuery({
    queryKey: ['settings', 'table'],
    queryFn: async () => (await data(api.GET('/api/settings'))).settings,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isSearching,
  })
  const words = text.toLowerCase().split(/\s+/)
  const matches = ({ name, words: further = '' }: Command) => {
    // Words are matched from their beginning.
    const searched = ` ${name} ${further}`.toLowerCase().replace(/[.\-/(]/g, ' ')
    return words.every((word) => searched.includes(` ${word}`))
  }
  const ownCommands = [...pages, ...actions.filter(({ isAllowed }) => isAllowed)].filter(matches)
  if (!isSearching) return ownCommands
  return [
    ...ownCommands,
    ...(found.data?.data ?? []).map(({ id, content }) => ({
      ...{ id, icon: 'memories' as const, name: content, note: t('palette.memory') },
      run: () => open('/studio/memories', { memory: id }),
    })),
    ...(settings.data ?? [])
      .map(({ name, help }) => ({
        ...{ id: name, icon: 'settings' as const, note: t('palette.setting') },
        name: settingText(name).title,
        words: `${name} ${help} ${settingText(name).searched}`,
        run: () => open('/studio/settings', { q: name }),
      }))
      .filter(matches)
      .slice(0, SETTINGS_SHOWN),
  ]
}
