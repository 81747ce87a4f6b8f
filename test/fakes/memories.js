export const instant = (ms) => ms;
export const memoryId = (name) => `mem_${String(name).padStart(6, '0')}`;
export const changeId = (name) => `chg_${name}`;
export const owner = (name) => name;
export const user = (name) => name;
export const session = (name) => name;
export const ADA = { owner: owner('ada'), user: null, session: null };
export const BOB = { owner: owner('bob'), user: null, session: null };
let count = 0;
export function memory(fields = {}) {
    count++;
    return {
        id: memoryId(count),
        place: ADA,
        key: null,
        content: `statement number ${count}`,
        type: 'factual',
        category: 'general',
        importance: 5,
        salience: 0.5,
        pinned: false,
        trust: 'user',
        status: 'active',
        validFrom: null,
        validUntil: null,
        supersededBy: null,
        conflictsWith: null,
        expiresAt: null,
        provenance: {
            source: 'test',
            speaker: null,
            turns: [],
            extractor: null,
            extractorVersion: null,
        },
        entities: [],
        language: null,
        metadata: {},
        sourceCount: 1,
        useCount: 0,
        lastUsedAt: null,
        version: 1,
        change: changeId(count),
        createdAt: instant(1_000),
        updatedAt: instant(1_000),
        ...fields,
    };
}
export function revision(of, fields = {}) {
    return {
        id: `rev_${of.id}_${of.version}`,
        memory: of,
        replacedAt: instant(of.updatedAt + 1_000),
        replacedBy: changeId('later'),
        ...fields,
    };
}
