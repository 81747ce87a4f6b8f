/** How to point a client at this server: the base URL, a key, and the lines to copy for each kind of client. */
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './onboarding.module.css'
import { MemorySwitch } from './onboarding.tsx'

type ClientName = 'openai-python' | 'openai-js' | 'anthropic' | 'curl' | 'agents'

const NAMES: Readonly<Record<ClientName, string>> = {
  'openai-python': 'OpenAI (Python)',
  'openai-js': 'OpenAI (JavaScript)',
  anthropic: 'Anthropic (Python)',
  curl: 'curl',
  agents: 'Claude Code, Cursor, …',
}
const CLIENTS = Object.keys(NAMES) as readonly ClientName[] // its own keys

export function ConnectDialog({ owner, onClose }: { owner: string; onClose: () => void }) {
  const { t } = useI18n()
  const { can } = useSession()
  const attempt = useAttempt(['keys'])
  const [client, setClient] = useState<ClientName>('openai-python')
  const [secret, setSecret] = useState<string | null>(null)
  const createKey = async () => {
    const body = { name: t('start.keyName'), home: owner, role: 'agent' as const }
    const created = await attempt(() => data(api.POST('/api/keys', { body })))
    if (created !== null) setSecret(created.secret)
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      shape="wide"
      title={t('start.connectTitle')}
      description={t('start.connectDescription')}
      footer={<Button onClick={onClose}>{t('common.close')}</Button>}
    >
      <MemorySwitch owner={owner} />
      {secret !== null ? (
        <Notice tone="good">
          {t('start.keyCreated')} <code className={styles.secret}>{secret}</code>
        </Notice>
      ) : (
        can('manage') && (
          <Button icon="add" onClick={() => void createKey()}>
            {t('start.createKey')}
          </Button>
        )
      )}
      <Tabs<ClientName>
        label={t('start.client')}
        value={client}
        onValueChange={setClient}
        tabs={CLIENTS.map((name) => ({
          name,
          text: NAMES[name],
          content: <Snippet text={snippetFor(name, location.origin, secret ?? 'rc_…')} />,
        }))}
      />
    </Dialog>
  )
}

function Snippet({ text }: { text: string }) {
  const { t } = useI18n()
  const showToast = useToast()
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    showToast({ text: t('common.copied') })
  }
  return (
    <div className={styles.snippet}>
      <pre>{text}</pre>
      <Button isSmall icon="copy" onClick={() => void copy()}>
        {t('start.copy')}
      </Button>
    </div>
  )
}

export function snippetFor(client: ClientName, origin: string, key: string): string {
  switch (client) {
    case 'openai-python':
      return [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${origin}/v1", api_key="${key}")`,
        'client.chat.completions.create(model="demo/echo", messages=[{"role": "user", "content": "Hello"}])',
      ].join('\n')
    case 'openai-js':
      return [
        "import OpenAI from 'openai'",
        '',
        `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' })`,
        "await client.chat.completions.create({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] })",
      ].join('\n')
    case 'anthropic':
      return [
        'from anthropic import Anthropic',
        '',
        `client = Anthropic(base_url="${origin}", api_key="${key}")`,
        'client.messages.create(model="demo/echo", max_tokens=200, messages=[{"role": "user", "content": "Hello"}])',
      ].join('\n')
    case 'curl':
      return [
        `curl ${origin}/v1/chat/completions -H "Authorization: Bearer ${key}" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d '{"model": "demo/echo", "messages": [{"role": "user", "content": "Hello"}]}'`,
      ].join('\n')
    case 'agents':
      return [
        `export RECOLLECT_API_KEY=${key}`,
        `recollect connect claude-code --url ${origin}`,
        `recollect connect cursor --url ${origin}`,
      ].join('\n')
  }
}
