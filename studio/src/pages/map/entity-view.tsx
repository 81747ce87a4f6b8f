/** Who and what memories are about, as a net and, beside it, as a list that says the same. */
import { useMemo, useRef, useState } from 'react'
import { type Search, textIn, type usePageSearch } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Empty, Loaded } from '../../ui/layout.tsx'
import styles from './entity-view.module.css'
import { Graph } from './graph-canvas.tsx'
import listStyles from './memory-list.module.css'
import { CategoryDot } from './memory-list.tsx'
import { createNet, type Net, type Tie, tiesIn } from './entity-graph.ts'
import pageStyles from './page.module.css'
import { type EntitiesAnswer, useEntities } from './queries.ts'

type Props = {
  owner: string
  search: Search
  change: ReturnType<typeof usePageSearch>[1]
  onOpen: (id: string) => void
}

export function EntityGraph(props: Props) {
  const query = useEntities(props.owner)
  return (
    <Loaded query={query} lines={12}>
      {(answer) => <Drawn {...props} answer={answer} />}
    </Loaded>
  )
}

function Drawn({ search, change, onOpen, answer }: Props & { answer: EntitiesAnswer }) {
  const { t, number } = useI18n()
  const ties = useMemo(() => tiesIn(answer), [answer])
  const before = useRef<Net>(undefined)
  const net = useMemo(() => {
    before.current = createNet(answer, ties, before.current)
    return before.current
  }, [answer, ties])
  const found = answer.entities.findIndex(({ name }) => name === textIn(search, 'entity'))
  const chosen = found === -1 ? null : found
  const choose = (entity: number | null) =>
    change(
      { entity: entity === null ? undefined : answer.entities[entity]?.name },
      { isStep: true },
    )
  if (answer.entities.length === 0) {
    return (
      <Empty title={t('map.graphEmpty')} icon="map">
        {t('map.graphEmptyHelp')}
      </Empty>
    )
  }
  return (
    <div className={pageStyles.sides}>
      <div className={pageStyles.drawing}>
        <Graph {...{ answer, net, chosen }} onChoose={choose} />
        <p className={pageStyles.soft}>
          {t('map.graphHint')}{' '}
          {answer.total > answer.entities.length &&
            t('map.entityLimit', {
              total: number(answer.total),
              count: number(answer.entities.length),
            })}{' '}
          {!answer.isComplete && t('map.partial', { count: number(5_000) })}
        </p>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section className={listStyles.listed} aria-label={t('map.entityList')} tabIndex={0}>
        {chosen === null ? (
          <Names answer={answer} onChoose={choose} />
        ) : (
          <One {...{ answer, ties, chosen, onOpen }} onChoose={choose} />
        )}
      </section>
    </div>
  )
}

function Names({
  answer,
  onChoose,
}: {
  answer: EntitiesAnswer
  onChoose: (entity: number) => void
}) {
  const { t, number } = useI18n()
  const [text, setText] = useState('')
  const wanted = text.toLowerCase()
  const fitting = [...answer.entities.entries()].filter(([, { name }]) =>
    name.toLowerCase().includes(wanted),
  )
  return (
    <>
      <div className={styles.find}>
        <TextField
          label={t('map.entitySearch')}
          isLabelHidden
          type="search"
          data-search=""
          placeholder={t('map.entitySearch')}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      {fitting.length === 0 && <Empty title={t('map.noMatch')} icon="search" />}
      <ul>
        {fitting.map(([place, { name, memories }]) => (
          <li key={name} className={listStyles.memory}>
            <button type="button" className={listStyles.open} onClick={() => onChoose(place)}>
              {name}
            </button>
            <span className={listStyles.count}>
              <span aria-hidden="true">{number(memories)}</span>
              <span className="visually-hidden">{t('map.entityCount', { count: memories })}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** What is remembered about one, and with what else it is named. */
function One({
  answer,
  ties,
  chosen,
  onChoose,
  onOpen,
}: {
  answer: EntitiesAnswer
  ties: readonly Tie[]
  chosen: number
  onChoose: (entity: number | null) => void
  onOpen: (id: string) => void
}) {
  const { t } = useI18n()
  const entity = answer.entities[chosen]
  const own = ties.filter(({ a, b }) => a === chosen || b === chosen)
  return (
    <div className={styles.one}>
      <Button isSmall look="quiet" icon="back" onClick={() => onChoose(null)}>
        {t('map.entityBack')}
      </Button>
      <h2>{entity?.name}</h2>
      <h3>{t('map.entityMemories')}</h3>
      <Memories
        memories={answer.memories.filter(({ entities }) => entities.includes(chosen))}
        onOpen={onOpen}
      />
      <h3>{t('map.relatedEntities')}</h3>
      {own.length === 0 && <p className={pageStyles.soft}>{t('map.relatedEntitiesNone')}</p>}
      <ul>
        {own.map(({ a, b, memories }) => {
          const other = a === chosen ? b : a
          return (
            <li key={other} className={styles.tie}>
              <details>
                <summary>
                  {answer.entities[other]?.name}{' '}
                  <span className={pageStyles.soft}>
                    {t('map.entityCount', { count: memories.length })}
                  </span>
                </summary>
                <Memories
                  memories={memories.flatMap((place) => answer.memories[place] ?? [])}
                  onOpen={onOpen}
                />
                <Button isSmall look="quiet" icon="next" onClick={() => onChoose(other)}>
                  {answer.entities[other]?.name}
                </Button>
              </details>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function Memories({
  memories,
  onOpen,
}: {
  memories: EntitiesAnswer['memories']
  onOpen: (id: string) => void
}) {
  return (
    <ul>
      {memories.map(({ id, content, category }) => (
        <li key={id} className={styles.memory}>
          <CategoryDot category={category} />
          <button type="button" className={listStyles.open} onClick={() => onOpen(id)}>
            {content}
          </button>
        </li>
      ))}
    </ul>
  )
}
