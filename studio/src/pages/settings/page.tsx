import { textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Switch } from '../../ui/field.tsx'
import { Card, EmptyState, Notice, Page, QueryResult } from '../../ui/layout.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Warnings } from '../engine/warnings.tsx'
import styles from './page.module.css'
import {
  type EffectiveSettings,
  type Level,
  type Setting,
  useEffectiveSettings,
  useSettingDeclarations,
} from './queries.ts'
import { useSettingText } from './setting-names.ts'
import { SettingRow } from './setting-row.tsx'

export function SettingsPage() {
  const { t } = useI18n()
  const { can } = useSession()
  const owner = useOwner()
  const [search, change] = useSearchParams()
  const level: Level = search.level === 'system' ? 'system' : 'owner'
  return (
    <Page title={t('settings.title')} description={t('settings.description')}>
      {can('manage') && <Warnings owner={owner} />}
      <div className={styles.tools}>
        <SearchField
          label={t('settings.search')}
          value={textParam(search, 'q')}
          onChange={(q) => change({ q: q || undefined })}
        />
        <Switch
          label={t('settings.onlyChanged')}
          isOn={search.changed === true}
          onCheckedChange={(isOn) => change({ changed: isOn || undefined })}
        />
      </div>
      <Tabs<Level>
        label={t('settings.title')}
        value={level}
        onValueChange={(name) =>
          change({ level: name === 'system' ? name : undefined }, { isPush: true })
        }
        tabs={[
          {
            name: 'owner',
            text: t('settings.forOwner', { owner }),
            content: <Settings level="owner" owner={owner} />,
          },
          {
            name: 'system',
            text: t('settings.system'),
            content: <Settings level="system" owner={owner} />,
          },
        ]}
      />
    </Page>
  )
}

function Settings({ level, owner }: { level: Level; owner: string }) {
  const { t } = useI18n()
  const { can } = useSession()
  const declared = useSettingDeclarations()
  const effective = useEffectiveSettings(level, owner)
  const isReadOnly = !can(level === 'system' ? 'manage' : 'curate')
  return (
    <div className={styles.groups}>
      <p className={styles.about}>
        {t(level === 'system' ? 'settings.systemHelp' : 'settings.ownerHelp')}
      </p>
      {isReadOnly && (
        <Notice>{t(level === 'system' ? 'settings.onlySuperadmins' : 'settings.readOnly')}</Notice>
      )}
      <QueryResult query={declared} lines={12}>
        {(settings) => (
          <QueryResult query={effective} lines={12}>
            {(values) => (
              <Groups
                settings={settings.filter(({ scope }) => level === 'system' || scope === 'owner')}
                {...{ level, owner, isReadOnly }}
                effective={values}
              />
            )}
          </QueryResult>
        )}
      </QueryResult>
    </div>
  )
}

function Groups({
  settings,
  effective,
  ...rest
}: {
  settings: readonly Setting[]
  effective: EffectiveSettings
  level: Level
  owner: string
  isReadOnly: boolean
}) {
  const { t } = useI18n()
  const [search] = useSearchParams()
  const textOf = useSettingText()
  const terms = textParam(search, 'q').toLowerCase().split(/\s+/)
  const matches = ({ name, help }: Setting) => {
    const text = `${name} ${help} ${textOf(name).searched}`.toLowerCase()
    const isChanged = effective.sourceOf(name) === rest.level
    return terms.every((word) => text.includes(word)) && (search.changed !== true || isChanged)
  }
  const groups = groupByPrefix(settings.filter(matches))
  if (groups.length === 0) {
    return (
      <EmptyState icon="search" title={t('settings.noMatch')}>
        {t('settings.noMatchHelp')}
      </EmptyState>
    )
  }
  return groups.map((group) => (
    <Card key={group.prefix} title={t(group.title)} isFlush>
      {group.settings.map((setting) => (
        <SettingRow key={setting.name} setting={setting} effective={effective} {...rest} />
      ))}
    </Card>
  ))
}

/** The titles of the groups in display order, by the prefix of the setting names, such as `recall.limit`. */
const GROUP_TITLES: Readonly<Record<string, MessageKey>> = {
  gateway: 'settings.groupGateway',
  hooks: 'settings.groupHooks',
  recall: 'settings.groupRecall',
  memory: 'settings.groupMemory',
  learning: 'settings.groupLearning',
  retention: 'settings.groupRetention',
  embedding: 'settings.groupEmbedding',
  vectorStore: 'settings.groupVectorStore',
  files: 'settings.groupFiles',
  server: 'settings.groupServer',
}

function groupByPrefix(settings: readonly Setting[]) {
  const prefixOf = ({ name }: Setting) => name.split('.')[0] ?? ''
  const groups = Object.entries(GROUP_TITLES).map(([prefix, title]) => ({
    prefix,
    title,
    settings: settings.filter((setting) => prefixOf(setting) === prefix),
  }))
  const rest = settings.filter((setting) => !(prefixOf(setting) in GROUP_TITLES))
  const other = { prefix: 'other', title: 'settings.groupOther' as const, settings: rest }
  return [...groups, other].filter((group) => group.settings.length > 0)
}
