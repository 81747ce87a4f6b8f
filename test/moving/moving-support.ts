/** A fresh server for one described system: its data is imported, then its clients' requests are sent. */
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { Client } from '../api/http/http-support.ts'
import { type Served, startServer } from '../e2e/cli/cli-server.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

export type House = Served & { readonly client: Client; close(): Promise<void> }

export async function openHouse(): Promise<House> {
  const ends: (() => Promise<void>)[] = []
  const served = await startServer((end) => void ends.push(end))
  return {
    ...served,
    client: new Client(served.url, served.managementKey),
    close: async () => {
      for (const end of ends) await end()
    },
  }
}

export function createDatabase(name: string, sql: string): string {
  const path = temporaryFile(name)
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
  return path
}

export function createJson(name: string, value: unknown): string {
  const path = temporaryFile(name)
  writeFileSync(path, JSON.stringify(value))
  return path
}

/** The schema of OmniRoute's migrations up to 083, with the table of early versions. */
export const OMNIROUTE_SCHEMA = `
  CREATE TABLE memories (
    id TEXT PRIMARY KEY, api_key_id TEXT NOT NULL, session_id TEXT,
    type TEXT NOT NULL CHECK (type IN ('factual', 'episodic', 'procedural', 'semantic')),
    key TEXT, content TEXT NOT NULL, metadata TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, expires_at TEXT,
    memory_id INTEGER UNIQUE, needs_reindex INTEGER DEFAULT 0,
    access_count INTEGER DEFAULT 0, last_accessed_at TEXT
  );
  CREATE TABLE memory (
    id TEXT PRIMARY KEY, apiKeyId TEXT, sessionId TEXT, type TEXT, key TEXT, content TEXT NOT NULL,
    metadata TEXT, createdAt TEXT, updatedAt TEXT, expiresAt TEXT
  );
`

export const OSAURUS_SCHEMA = `
  PRAGMA user_version = 10;
  CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), content TEXT NOT NULL, overrides TEXT NOT NULL DEFAULT '[]',
    token_count INTEGER NOT NULL, version INTEGER NOT NULL, model TEXT NOT NULL, generated_at TEXT NOT NULL);
  CREATE TABLE pinned_facts (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, content TEXT NOT NULL, salience REAL NOT NULL DEFAULT 0.5,
    source_count INTEGER NOT NULL DEFAULT 1, source_episode_id INTEGER, last_used TEXT, use_count INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'active', created_at TEXT NOT NULL, tags_csv TEXT);
  CREATE TABLE episodes (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, conversation_id TEXT NOT NULL, summary TEXT NOT NULL,
    topics_csv TEXT, entities_csv TEXT, decisions TEXT, action_items TEXT, salience REAL NOT NULL DEFAULT 0.5, token_count INTEGER,
    model TEXT, conversation_at TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active', created_at TEXT NOT NULL);
  CREATE TABLE transcript (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
    chunk_index INTEGER NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, token_count INTEGER, title TEXT, created_at TEXT NOT NULL);
  CREATE TABLE pending_signals (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, conversation_id TEXT NOT NULL,
    user_message TEXT NOT NULL, assistant_message TEXT, status TEXT NOT NULL DEFAULT 'pending', attempts INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL);
`
