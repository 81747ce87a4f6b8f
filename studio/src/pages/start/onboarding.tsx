/** What an empty store shows: the memory switch, and the ways to the first memories. */
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useMemorySetting } from '../../app/memory-setting.ts'
import { useMutations } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Switch } from '../../ui/field.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { ImportDialog } from '../memories/import-dialog.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import styles from './onboarding.module.css'
import SAMPLE from './sample-memories.json'

/** Marks sample memories, so that they can be removed together. */
const SAMPLE_SOURCE = 'demo'

export function Onboarding({ owner }: { owner: string }) {
  const { t } = useI18n()
  const { can } = useSession()
  const [dialog, setDialog] = useState<'connect' | 'import' | null>(null)
  const sample = useSampleData(owner)
  return (
    <section className={styles.start} aria-label={t('start.title')}>
      <h2 className={styles.title}>{t('start.title')}</h2>
      <MemorySwitch owner={owner} />
      <ul className={styles.steps}>
        <Step icon="playground" title={t('start.tryTitle')} help={t('start.tryHelp')}>
          <Link to="/studio/chat" className={styles.link}>
            {t('start.try')}
          </Link>
        </Step>
        <Step icon="link" title={t('start.connectTitle')} help={t('start.connectHelp')}>
          <Button onClick={() => setDialog('connect')}>{t('start.connect')}</Button>
        </Step>
        {can('curate') && (
          <Step icon="import" title={t('start.importTitle')} help={t('start.importHelp')}>
            <Button onClick={() => setDialog('import')}>{t('start.import')}</Button>
          </Step>
        )}
        {can('write') && (
          <Step icon="memories" title={t('start.sampleTitle')} help={t('start.sampleHelp')}>
            <Button isBusy={sample.isBusy} onClick={() => void sample.load()}>
              {t('start.sample')}
            </Button>
          </Step>
        )}
      </ul>
      {dialog === 'connect' && <ConnectDialog owner={owner} onClose={() => setDialog(null)} />}
      {dialog === 'import' && <ImportDialog owner={owner} onClose={() => setDialog(null)} />}
    </section>
  )
}

/** Turns memory on and off, with its cost. */
export function MemorySwitch({ owner }: { owner: string }) {
  const { t, number } = useI18n()
  const { can } = useSession()
  const { isOn, contextTokensMax, set } = useMemorySetting(owner)
  if (isOn === undefined) return null
  return (
    <div className={styles.switch}>
      <Switch
        label={t(isOn ? 'start.memoryOn' : 'start.memoryOff')}
        isOn={isOn}
        isDisabled={!can('curate')}
        onCheckedChange={(on) => void set(on)}
      />
      <p>{t('start.memoryCost', { tokens: number(contextTokensMax) })}</p>
    </div>
  )
}

function Step({
  icon,
  title,
  help,
  children,
}: {
  icon: IconName
  title: string
  help: string
  children: ReactNode
}) {
  return (
    <li className={styles.step}>
      <Icon name={icon} size={24} />
      <h3>{title}</h3>
      <p>{help}</p>
      {children}
    </li>
  )
}

function useSampleData(owner: string) {
  const { t } = useI18n()
  const { attempt, showUndoToast } = useMutations(owner, ['memories', 'stats'])
  const [isBusy, setBusy] = useState(false)
  const load = async () => {
    setBusy(true)
    const changes = await attempt(async () => {
      const made: string[] = []
      for (const memory of SAMPLE) {
        const body = { ...memory, owner, source: SAMPLE_SOURCE } as SampleBody // the categories are those of the API
        const added = await data(api.POST('/api/memory', { body }))
        made.push(added.memory.change)
      }
      return made
    })
    setBusy(false)
    if (changes !== null) {
      showUndoToast(t('start.sampleLoaded', { count: changes.length }), changes)
    }
  }
  return { isBusy, load }
}

type SampleBody = NonNullable<Parameters<typeof api.POST<'/api/memory', never>>[1]>['body']
