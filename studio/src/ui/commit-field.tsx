import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { TextField } from './field.tsx'

/** A text field that commits its value on blur or Enter instead of on every keystroke. */
export function CommitField({
  value,
  onCommit,
  ...rest
}: Omit<
  ComponentProps<typeof TextField>,
  'value' | 'onChange' | 'onFocus' | 'onBlur' | 'onKeyDown'
> & {
  value: string
  onCommit: (value: string) => void
}) {
  const [text, setText] = useState(value)
  /** The last committed or accepted value, which is not committed again. */
  const committed = useRef(value)
  const isEditing = useRef(false)
  /** A value that arrived during editing. It may be older than the committed one and never overwrites the input. */
  const pendingValue = useRef<string | null>(null)
  const acceptValue = (next: string) => {
    committed.current = next
    setText(next)
  }
  const commit = () => {
    committed.current = text.trim()
    onCommit(committed.current)
  }
  useEffect(() => {
    if (isEditing.current) {
      pendingValue.current = value
    } else {
      committed.current = value
      setText(value)
    }
  }, [value])
  return (
    <TextField
      {...rest}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onFocus={() => {
        isEditing.current = true
        pendingValue.current = null
      }}
      onBlur={() => {
        isEditing.current = false
        if (text.trim() !== committed.current) commit()
        else if (pendingValue.current !== null) acceptValue(pendingValue.current)
      }}
      onKeyDown={({ key }) => {
        const isNew = text.trim() !== committed.current || text.trim() !== value
        if (key === 'Enter' && isNew) commit()
      }}
    />
  )
}
