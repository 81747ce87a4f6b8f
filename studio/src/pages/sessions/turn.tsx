/** A turn of a session, rendered as text only, with the memories extracted from it. */
import { Fragment, useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useCopy } from '../../app/clipboard.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Chip } from '../../ui/layout.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { ExtractedMemories } from './extracted-memories.tsx'
import { ROLE_NAMES, type SessionRef, type Turn } from './queries.ts'
import styles from './turn.module.css'
import { DeleteTurnDialog, EditTurnDialog } from './turn-dialogs.tsx'

/** Longer turns are collapsed. */
const COLLAPSED_CHARACTERS = 900
const COLLAPSED_LINES = 14

export function TurnView({
  session,
  turn,
  mark,
  isLinked,
  memories,
}: {
  session: SessionRef
  turn: Turn
  mark: 'pending' | 'dead' | undefined
  isLinked: boolean
  memories: readonly Memory[]
}) {
  const { t, time } = useI18n()
  const { role, speaker, saidAt, content } = turn
  const classNames = [styles.turn, styles[role] ?? '', isLinked ? styles.named : '']
  return (
    <article className={classNames.join(' ')} aria-current={isLinked || undefined}>
      <header className={styles.header}>
        <strong>{speaker ?? t(ROLE_NAMES[role])}</strong>
        <time dateTime={saidAt}>{time(saidAt)}</time>
        {mark === 'pending' && <Chip tone="accent">{t('sessions.markPending')}</Chip>}
        {mark === 'dead' && <Chip tone="bad">{t('sessions.markDead')}</Chip>}
        <span className={styles.gap} />
        <TurnMenu session={session} turn={turn} memories={memories} />
      </header>
      <div className={styles.bubble}>
        <CollapsibleText text={content} />
      </div>
      {memories.length > 0 && (
        <ExtractedMemories
          owner={session.owner}
          title={t('sessions.extracted')}
          memories={memories}
        />
      )}
    </article>
  )
}

function CollapsibleText({ text }: { text: string }) {
  const { t } = useI18n()
  const [isExpanded, setExpanded] = useState(false)
  const lines = text.split('\n')
  const isLong = text.length > COLLAPSED_CHARACTERS || lines.length > COLLAPSED_LINES
  const short = lines.slice(0, COLLAPSED_LINES).join('\n').slice(0, COLLAPSED_CHARACTERS)
  const atWord = short.replace(/\s+\S{0,30}$/, '')
  return (
    <>
      <TurnText text={isLong && !isExpanded ? `${atWord} …` : text} />
      {isLong && (
        <Button
          isSmall
          look="quiet"
          aria-expanded={isExpanded}
          onClick={() => setExpanded(!isExpanded)}
        >
          {t(isExpanded ? 'sessions.collapse' : 'sessions.expand')}
        </Button>
      )}
    </>
  )
}

/** Renders fenced code blocks in monospace. Nothing is interpreted as markup. */
function TurnText({ text }: { text: string }) {
  return text.split(/^```.*$/m).map((part, index) => {
    const key = `${index}:${part.length}`
    const words = part.replace(/^\n|\n$/g, '')
    if (words === '') return <Fragment key={key} />
    return index % 2 === 1 ? (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
      <pre key={key} tabIndex={0}>
        <code>{words}</code>
      </pre>
    ) : (
      <p key={key}>{words}</p>
    )
  })
}

function TurnMenu({
  session,
  turn,
  memories,
}: {
  session: SessionRef
  turn: Turn
  memories: readonly Memory[]
}) {
  const { t } = useI18n()
  const { can } = useSession()
  const copyText = useCopy()
  const [dialog, setDialog] = useState<'edit' | 'forget' | null>(null)
  const copy = async () => {
    const { owner, id, user } = session
    const params = new URLSearchParams({
      owner,
      session: id,
      ...(user === undefined ? {} : { user }),
      turn: turn.id,
    })
    await copyText(`${location.origin}/studio/sessions?${params}`, t('sessions.linkCopied'))
  }
  const close = () => setDialog(null)
  return (
    <>
      <Menu trigger={<IconButton isSmall icon="more" name={t('sessions.turnActions')} />}>
        <MenuItem icon="link" onSelect={() => void copy()}>
          {t('sessions.copyLink')}
        </MenuItem>
        {can('write') && (
          <MenuItem icon="edit" onSelect={() => setDialog('edit')}>
            {t('sessions.edit')}
          </MenuItem>
        )}
        {can('curate') && (
          <MenuItem icon="forget" isDangerous onSelect={() => setDialog('forget')}>
            {t('sessions.delete')}
          </MenuItem>
        )}
      </Menu>
      {dialog === 'edit' && <EditTurnDialog owner={session.owner} turn={turn} onClose={close} />}
      <DeleteTurnDialog
        owner={session.owner}
        turn={turn}
        memories={memories}
        isOpen={dialog === 'forget'}
        onClose={close}
      />
    </>
  )
}
