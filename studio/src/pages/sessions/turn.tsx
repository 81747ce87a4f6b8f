/** One turn of a conversation, as text and nothing else, with what was learned from it. */
import { Fragment, useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useCopy } from '../../app/clipboard.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Chip } from '../../ui/layout.tsx'
import { EditTurn, ForgetTurn } from './turn-dialogs.tsx'
import { Learned } from './extracted-memories.tsx'
import type { Named, Turn } from './queries.ts'
import styles from './turn.module.css'
import { ROLES } from './words.ts'

/** Longer ones are folded. */
const FOLDED_CHARACTERS = 900
const FOLDED_LINES = 14

export function TurnView({
  session,
  turn,
  mark,
  isNamed,
  produced,
}: {
  session: Named
  turn: Turn
  mark: 'pending' | 'dead' | undefined
  isNamed: boolean
  produced: readonly Memory[]
}) {
  const { t, time } = useI18n()
  const { role, speaker, saidAt, content } = turn
  const looks = [styles.turn, styles[role] ?? '', isNamed ? styles.named : '']
  return (
    <article className={looks.join(' ')} aria-current={isNamed || undefined}>
      <header className={styles.header}>
        <strong>{speaker ?? t(ROLES[role])}</strong>
        <time dateTime={saidAt}>{time(saidAt)}</time>
        {mark === 'pending' && <Chip tone="accent">{t('sessions.markPending')}</Chip>}
        {mark === 'dead' && <Chip tone="bad">{t('sessions.markDead')}</Chip>}
        <span className={styles.gap} />
        <TurnMenu session={session} turn={turn} produced={produced} />
      </header>
      <div className={styles.bubble}>
        <Folded text={content} />
      </div>
      {produced.length > 0 && (
        <Learned owner={session.owner} title={t('sessions.extracted')} memories={produced} />
      )}
    </article>
  )
}

function Folded({ text }: { text: string }) {
  const { t } = useI18n()
  const [isWhole, setWhole] = useState(false)
  const lines = text.split('\n')
  const isLong = text.length > FOLDED_CHARACTERS || lines.length > FOLDED_LINES
  const short = lines.slice(0, FOLDED_LINES).join('\n').slice(0, FOLDED_CHARACTERS)
  const atWord = short.replace(/\s+\S{0,30}$/, '')
  return (
    <>
      <Said text={isLong && !isWhole ? `${atWord} …` : text} />
      {isLong && (
        <Button isSmall look="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {t(isWhole ? 'sessions.collapse' : 'sessions.expand')}
        </Button>
      )}
    </>
  )
}

/** What stands between fences is code and keeps its columns. Nothing is read as markup. */
function Said({ text }: { text: string }) {
  return text.split(/^```.*$/m).map((part, index) => {
    const key = `${index}:${part.length}`
    const words = part.replace(/^\n|\n$/g, '')
    if (words === '') return <Fragment key={key} />
    return index % 2 === 1 ? (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
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
  produced,
}: {
  session: Named
  turn: Turn
  produced: readonly Memory[]
}) {
  const { t } = useI18n()
  const { may } = useSession()
  const copyText = useCopy()
  const [asked, setAsked] = useState<'edit' | 'forget' | null>(null)
  const copy = async () => {
    const { owner, id, user } = session
    const place = new URLSearchParams({
      owner,
      session: id,
      ...(user === undefined ? {} : { user }),
      turn: turn.id,
    })
    await copyText(`${location.origin}/studio/sessions?${place}`, t('sessions.linkCopied'))
  }
  const close = () => setAsked(null)
  return (
    <>
      <Menu trigger={<IconButton isSmall icon="more" name={t('sessions.turnActions')} />}>
        <MenuItem icon="link" onSelect={() => void copy()}>
          {t('sessions.copyLink')}
        </MenuItem>
        {may('write') && (
          <MenuItem icon="edit" onSelect={() => setAsked('edit')}>
            {t('sessions.edit')}
          </MenuItem>
        )}
        {may('curate') && (
          <MenuItem icon="forget" isDangerous onSelect={() => setAsked('forget')}>
            {t('sessions.delete')}
          </MenuItem>
        )}
      </Menu>
      {asked === 'edit' && <EditTurn owner={session.owner} turn={turn} onClose={close} />}
      <ForgetTurn
        owner={session.owner}
        turn={turn}
        produced={produced}
        isOpen={asked === 'forget'}
        onClose={close}
      />
    </>
  )
}
