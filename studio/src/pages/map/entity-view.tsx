/** The entities of memories, as a graph and as a list with the same content. */
import { useMemo, useRef, useState } from 'react'
import { type SearchParams, textParam, type useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { EmptyState, QueryResult } from '../../ui/layout.tsx'
import { buildEdges, createGraph, type EntityGraph, type GraphEdge } from './entity-graph.ts'
import styles from './entity-view.module.css'
import { GraphCanvas } from './graph-canvas.tsx'
import listStyles from './memory-list.module.css'
import { CategoryDot } from './memory-list.tsx'
import pageStyles from './page.module.css'
import { type EntitiesAnswer, useEntities } from './queries.ts'

type Props = {
  owner: string
  search: SearchParams
  change: ReturnType<typeof useSearchParams>[1]
  onOpen: (id: string) => void
}

export function EntityView(props: Props) {
  const query = useEntities(props.owner)
  return (
    <QueryResult query={query} lines={12}>
      {(answer) => <EntityContent {...props} answer={answer} />}
    </QueryResult>
  )
}

function EntityContent({ search, change, onOpen, answer }: Props & { answer: EntitiesAnswer }) {
  const { t, number } = useI18n()
  const edges = useMemo(() => buildEdges(answer), [answer])
  const before = useRef<EntityGraph>(undefined)
  const graph = useMemo(() => {
    before.current = createGraph(answer, edges, before.current)
    return before.current
  }, [answer, edges])
  const selectedIndex = answer.entities.findIndex(
    ({ name }) => name === textParam(search, 'entity'),
  )
  const chosen = selectedIndex === -1 ? null : selectedIndex
  const choose = (entity: number | null) =>
    change(
      { entity: entity === null ? undefined : answer.entities[entity]?.name },
      { isPush: true },
    )
  if (answer.entities.length === 0) {
    return (
      <EmptyState title={t('map.graphEmpty')} icon="map">
        {t('map.graphEmptyHelp')}
      </EmptyState>
    )
  }
  return (
    <div className={pageStyles.sides}>
      <div className={pageStyles.drawing}>
        <GraphCanvas {...{ answer, graph, chosen }} onChoose={choose} />
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section className={listStyles.listed} aria-label={t('map.entityList')} tabIndex={0}>
        {chosen === null ? (
          <EntityList answer={answer} onChoose={choose} />
        ) : (
          <EntityDetails {...{ answer, edges, chosen, onOpen }} onChoose={choose} />
        )}
      </section>
    </div>
  )
}

function EntityList({
  answer,
  onChoose,
}: {
  answer: EntitiesAnswer
  onChoose: (entity: number) => void
}) {
  const { t, number } = useI18n()
  const [text, setText] = useState('')
  const searchText = text.toLowerCase()
  const matches = [...answer.entities.entries()].filter(([, { name }]) =>
    name.toLowerCase().includes(searchText),
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
      {matches.length === 0 && <EmptyState title={t('map.noMatch')} icon="search" />}
      <ul>
        {matches.map(([index, { name, memories }]) => (
          <li key={name} className={listStyles.memory}>
            <button type="button" className={listStyles.open} onClick={() => onChoose(index)}>
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

/** The memories of one entity and its related entities. */
function EntityDetails({
  answer,
  edges,
  chosen,
  onChoose,
  onOpen,
}: {
  answer: EntitiesAnswer
  edges: readonly GraphEdge[]
  chosen: number
  onChoose: (entity: number | null) => void
  onOpen: (id: string) => void
}) {
  const { t } = useI18n()
  const entity = answer.entities[chosen]
  const ownEdges = edges.filter(({ a, b }) => a === chosen || b === chosen)
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
      {ownEdges.length === 0 && <p className={pageStyles.soft}>{t('map.relatedEntitiesNone')}</p>}
      <ul>
        {ownEdges.map(({ a, b, memories }) => {
          const other = a === chosen ? b : a
          return (
            <li key={other} className={styles.edge}>
              <details>
                <summary>
                  {answer.entities[other]?.name}{' '}
                  <span className={pageStyles.soft}>
                    {t('map.entityCount', { count: memories.length })}
                  </span>
                </summary>
                <Memories
                  memories={memories.flatMap((index) => answer.memories[index] ?? [])}
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
