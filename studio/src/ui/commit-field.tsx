import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { TextField } from './field.tsx'

/** A field that counts when it is left, or with Enter: half a name finds nobody. */
export function CommittedField({
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
  /** What was last handed on or taken over: handing the same on again would change nothing. */
  const settled = useRef(value)
  const isEditing = useRef(false)
  /** What came from elsewhere meanwhile. It may be older than what was handed on, and never writes over a writer. */
  const news = useRef<string | null>(null)
  const take = (told: string) => {
    settled.current = told
    setText(told)
  }
  const commit = () => {
    settled.current = text.trim()
    onCommit(settled.current)
  }
  useEffect(() => {
    if (isEditing.current) {
      news.current = value
    } else {
      settled.current = value
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
        news.current = null
      }}
      onBlur={() => {
        isEditing.current = false
        if (text.trim() !== settled.current) commit()
        else if (news.current !== null) take(news.current)
      }}
      onKeyDown={({ key }) => {
        const isNew = text.trim() !== settled.current || text.trim() !== value
        if (key === 'Enter' && isNew) commit()
      }}
    />
  )
}
