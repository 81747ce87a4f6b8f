import { useEffect, useRef, useState } from 'react'
import { TextField } from './field.tsx'
import { Icon } from './icon.tsx'
import styles from './search-field.module.css'

/** The debounce interval of the search. */
const QUIET_MS = 300

/** A debounced search field. The shortcut `/` focuses it. */
export function SearchField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const [text, setText] = useState(value)
  const latest = useRef({ value, onChange })
  useEffect(() => {
    // The URL was changed elsewhere, for example by the back button.
    if (value !== latest.current.value) setText(value)
    latest.current = { value, onChange }
  }, [value, onChange])
  useEffect(() => {
    if (text === latest.current.value) return
    const timer = setTimeout(() => {
      latest.current.value = text
      latest.current.onChange(text)
    }, QUIET_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div className={styles.search}>
      <Icon name="search" />
      <TextField
        label={label}
        isLabelHidden
        type="search"
        placeholder={label}
        data-search
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </div>
  )
}
