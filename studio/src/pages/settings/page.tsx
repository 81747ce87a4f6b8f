import { textIn, useOwner, usePageSearch } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Switch } from '../../ui/field.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Card, Empty, Loaded, Notice, Page } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Warnings } from '../engine/warnings.tsx'
import { grouped } from './groups.ts'
import styles from './page.module.css'
import { type InForce, type Level, type Setting, useDeclared, useInForce } from './queries.ts'
import { SettingRow } from './setting-row.tsx'

export function SettingsPage() {
  const { t } = useI18n()
  const { may } = useSession()
  const owner = useOwner()
  const [search, change] = usePageSearch()
  const level: Level = search.level === 'system' ? 'system' : 'owner'
  return (
    <Page title={t('settings.title')} description={t('settings.description')}>
      {may('manage') && <Warnings owner={owner} />}
      <div className={styles.tools}>
        <SearchField
          label={t('settings.search')}
          value={textIn(search, 'q')}
          onChange={(q) => change({ q: q || undefined })}
        />
        <Switch
          label={t('settings.onlyChanged')}
          isOn={search.changed === true}
          onTurn={(isOn) => change({ changed: isOn || undefined })}
        />
      </div>
      <Tabs<Level>
        label={t('settings.title')}
        chosen={level}
        onChoose={(name) =>
          change({ level: name === 'system' ? name : undefined }, { isStep: true })
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
  const { may } = useSession()
  const declared = useDeclared()
  const inForce = useInForce(level, owner)
  const isFixed = !may(level === 'system' ? 'manage' : 'curate')
  return (
    <div className={styles.groups}>
      <p className={styles.about}>
        {t(level === 'system' ? 'settings.systemHelp' : 'settings.ownerHelp')}
      </p>
      {isFixed && (
        <Notice>
          {t(level === 'system' ? 'settings.onlySuperadmins' : 'settings.readOnly')}
        </Notice>
      )}
      <Loaded query={declared} lines={12}>
        {(settings) => (
          <Loaded query={inForce} lines={12}>
            {(values) => (
              <Groups
                settings={settings.filter(({ scope }) => level === 'system' || scope === 'owner')}
                {...{ level, owner, isFixed }}
                inForce={values}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </div>
  )
}

function Groups({
  settings,
  inForce,
  ...rest
}: {
  settings: readonly Setting[]
  inForce: InForce
  level: Level
  owner: string
  isFixed: boolean
}) {
  const { t } = useI18n()
  const [search] = usePageSearch()
  const words = textIn(search, 'q').toLowerCase().split(/\s+/)
  const fits = ({ name, help }: Setting) => {
    const text = `${name} ${help}`.toLowerCase()
    const isChanged = inForce.sourceOf(name) === rest.level
    return words.every((word) => text.includes(word)) && (search.changed !== true || isChanged)
  }
  const groups = grouped(settings.filter(fits))
  if (groups.length === 0) {
    return (
      <Empty icon="search" title={t('settings.noMatch')}>
        {t('settings.noMatchHelp')}
      </Empty>
    )
  }
  return groups.map((group) => (
    <Card key={group.id} title={t(group.title)} isFlush>
      {group.settings.map((setting) => (
        <SettingRow key={setting.name} setting={setting} inForce={inForce} {...rest} />
      ))}
    </Card>
  ))
}
