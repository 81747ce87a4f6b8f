/** Actions for all selected memories, or for all that match. Each is one request and one change. */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { api, data, type Memory } from '../../api/client.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { exportFiltered, exportMemories } from './export.ts'
import { CATEGORIES } from './memory-fields.ts'
import styles from './page.module.css'
import {
  type BulkRequest,
  type BulkTarget,
  filtersIn,
  isRankedSearch,
  listPage,
  useActions,
  useTrashDays,
} from './queries.ts'
import { useValueName } from './value-names.ts'

/** The most memories that the server merges at once. */
const MERGED_MAX = 50

const IMPORTANCES = Array.from({ length: 10 }, (_, index) => index + 1)

export function BulkActions({
  owner,
  search,
  memories,
  onClear,
}: {
  owner: string
  search: SearchParams
  memories: readonly Memory[]
  onClear: () => void
}) {
  const { t } = useI18n()
  const nameOf = useValueName()
  const actions = useActions(owner)
  const days = useTrashDays(owner)
  const [dialog, setDialog] = useState<'forget' | 'merge' | 'move' | null>(null)
  const [isAll, setAll] = useState(false)
  const { data: head } = useQuery({
    ...listPage(owner, search, 0),
    enabled: !isRankedSearch(search),
  })
  const total = isRankedSearch(search) ? 0 : (head?.total ?? 0)
  const hasActive = memories.some(({ status }) => status === 'active')
  const hasInactive = memories.some(({ status }) => status !== 'active')
  const hasUnpinned = memories.some(({ status, pinned }) => status === 'active' && !pinned)
  const count = isAll ? total : memories.length
  const target: BulkTarget = isAll ? matchingTarget(search) : { ids: memories.map(({ id }) => id) }
  const canMerge =
    !isAll &&
    memories.length > 1 &&
    memories.length <= MERGED_MAX &&
    memories.every(({ status, trust }) => status === 'active' && trust !== 'suspect')
  const change = (message: MessageKey, request: BulkRequest, changed = target) => {
    void actions.changeMany(changed, message, request)
    onClear()
  }
  const pin = () => {
    const unpinned = memories.filter(({ status, pinned }) => status === 'active' && !pinned)
    const pinned = isAll ? target : { ids: unpinned.map(({ id }) => id) }
    change('memories.pinnedDone', { action: 'edit', edit: { pinned: true } }, pinned)
  }
  return (
    <div className={styles.bulk} role="status">
      <strong>
        {isAll
          ? t('memories.allSelected', { count: total })
          : t('memories.selected', { count: memories.length })}
      </strong>
      {!isAll && total > memories.length && (
        <Button isSmall look="quiet" onClick={() => setAll(true)}>
          {t('memories.selectMatching', { count: total })}
        </Button>
      )}
      {(hasUnpinned || isAll) && (
        <Button isSmall icon="pin" disabled={actions.isBusy} onClick={pin}>
          {t('memories.pin')}
        </Button>
      )}
      <Menu
        trigger={
          <Button isSmall icon="edit" disabled={actions.isBusy}>
            {t('memories.setCategory')}
          </Button>
        }
      >
        {CATEGORIES.map((category) => (
          <MenuItem
            key={category}
            onSelect={() => change('memories.changed', { action: 'edit', edit: { category } })}
          >
            {nameOf(category)}
          </MenuItem>
        ))}
      </Menu>
      <Menu
        trigger={
          <Button isSmall icon="edit" disabled={actions.isBusy}>
            {t('memories.setImportance')}
          </Button>
        }
      >
        {IMPORTANCES.map((importance) => (
          <MenuItem
            key={importance}
            onSelect={() => change('memories.changed', { action: 'edit', edit: { importance } })}
          >
            {importance}
          </MenuItem>
        ))}
      </Menu>
      <Button isSmall disabled={actions.isBusy} onClick={() => setDialog('move')}>
        {t('memories.move')}
      </Button>
      {canMerge && (
        <Button isSmall disabled={actions.isBusy} onClick={() => setDialog('merge')}>
          {t('memories.merge')}
        </Button>
      )}
      {hasActive && (
        <>
          <Button
            isSmall
            icon="disable"
            disabled={actions.isBusy}
            onClick={() => change('memories.disabled', { action: 'disable' })}
          >
            {t('memories.disable')}
          </Button>
          <Button
            isSmall
            icon="forget"
            disabled={actions.isBusy}
            onClick={() => setDialog('forget')}
          >
            {t('memories.forget')}
          </Button>
        </>
      )}
      {hasInactive && (
        <Button
          isSmall
          icon="restore"
          disabled={actions.isBusy}
          onClick={() => change('memories.restored', { action: 'restore' })}
        >
          {t('memories.restore')}
        </Button>
      )}
      <Button
        isSmall
        icon="export"
        onClick={() =>
          void actions.attempt(() =>
            isAll
              ? exportFiltered(owner, search)
              : exportMemories(owner, new Set(memories.map(({ id }) => id))),
          )
        }
      >
        {t('memories.export')}
      </Button>
      <Button isSmall look="quiet" onClick={onClear}>
        {t('memories.clearSelection')}
      </Button>
      <Confirm
        isOpen={dialog === 'forget'}
        onClose={() => setDialog(null)}
        title={t('memories.forgetTitle', { count })}
        description={t('memories.forgetHelp', { days })}
        action={t('memories.forget')}
        onConfirm={() => change('memories.forgotten', { action: 'forget' })}
      />
      {dialog === 'move' && (
        <MoveDialog
          owner={owner}
          count={count}
          onClose={() => setDialog(null)}
          onMove={(toUser) => change('memories.moved', { action: 'move', toUser })}
        />
      )}
      {dialog === 'merge' && (
        <MergeDialog
          memories={memories}
          onClose={() => setDialog(null)}
          onMerge={async (ids, content) => {
            if (await actions.merge(ids, content)) onClear()
          }}
        />
      )}
    </div>
  )
}

/** The filters of the list, as the target of a bulk operation. */
function matchingTarget(search: SearchParams): BulkTarget {
  const q = textParam(search, 'q')
  return { ...filtersIn(search), ...(q === '' ? {} : { q }), all: true } as BulkTarget // the server validates the values
}

function MoveDialog({
  owner,
  count,
  onClose,
  onMove,
}: {
  owner: string
  count: number
  onClose: () => void
  onMove: (toUser: string | null) => void
}) {
  const { t } = useI18n()
  const listId = useId()
  const [user, setUser] = useState('')
  const known = useQuery({
    queryKey: ['memories', owner, 'users'],
    queryFn: () => data(api.GET('/api/memory/facets', { params: { query: { owner } } })),
  })
  const move = (event: FormEvent) => {
    event.preventDefault()
    onMove(user.trim() === '' ? null : user.trim())
    onClose()
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isDirty={user !== ''}
      title={t('memories.moveTitle', { count })}
      description={t('memories.moveHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" form="move-memories" look="primary">
            {t('memories.move')}
          </Button>
        </>
      }
    >
      <form id="move-memories" onSubmit={move}>
        <TextField
          label={t('memories.newUser')}
          autoFocus
          maxLength={200}
          list={listId}
          value={user}
          onChange={({ target }) => setUser(target.value)}
        />
        <datalist id={listId}>
          {(known.data?.facets.user ?? []).map(({ value }) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      </form>
    </Dialog>
  )
}

function MergeDialog({
  memories,
  onClose,
  onMerge,
}: {
  memories: readonly Memory[]
  onClose: () => void
  onMerge: (ids: readonly string[], content: string) => Promise<void>
}) {
  const { t } = useI18n()
  const oldestFirst = memories.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
  const proposed = oldestFirst.map((memory) => memory.content).join('\n')
  const [content, setContent] = useState(proposed)
  const [isBusy, setBusy] = useState(false)
  const merge = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    await onMerge(
      oldestFirst.map(({ id }) => id),
      content.trim(),
    )
    setBusy(false)
    onClose()
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isDirty={content !== proposed}
      title={t('memories.mergeTitle', { count: memories.length })}
      description={t('memories.mergeHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            type="submit"
            form="merge-memories"
            look="primary"
            isBusy={isBusy}
            disabled={content.trim() === ''}
          >
            {t('memories.merge')}
          </Button>
        </>
      }
    >
      <form id="merge-memories" onSubmit={(event) => void merge(event)}>
        <TextArea
          label={t('memories.content')}
          rows={6}
          autoFocus
          value={content}
          onChange={({ target }) => setContent(target.value)}
        />
      </form>
    </Dialog>
  )
}
