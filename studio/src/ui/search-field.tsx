import { useEffect, useRef, useState } from 'react'
import { TextField } from './field.tsx'
import { Icon } from './icon.tsx'
import styles from './search-field.module.css'

/** How long to wait until somebody has written what they look for. */
const QUIET_MS = 300

/** Looks while somebody writes. `/` leads to it. */
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
    // The address has changed by other means: back, a link.
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
