import { failure } from '../../pipeline/some-facts.ts';
import type { Answer } from '../../../src/pipeline/file/ports.ts';
import type { ExploredRecord, WorldState } from './world-state.ts';

/** The service of the explored world: each function is one request that arrives. */
export const service = {
  create: (state: WorldState, token: string, isImport: boolean): ExploredRecord => {
    if (state.tokens.includes(token)) state.found.push('D4');
    state.tokens.push(token);
    const id = `vid#${(state.count += 1)}`;
    const content = isImport ? `import ${token}` : null;
    const status = isImport ? 'processing' : 'pending';
    const record: ExploredRecord = { id, token, status, content, asked: 0, mayHaveBody: false };
    state.records.push(record);
    return record;
  },

  receive: (state: WorldState, id: string, content: string): boolean => {
    const record = recordOf(state, id);
    if (record?.status !== 'pending') return false;
    record.status = 'processing';
    record.content = content;
    return true;
  },

  /** @param lag so many questions are answered with `pending` after the bytes came */
  status: (state: WorldState, id: string, lag: number): Answer<ExploredRecord['status']> => {
    const record = recordOf(state, id);
    if (record === undefined) return { ok: false, failure: failure('gone') };
    if (record.status !== 'pending') {
      record.asked = Math.min(record.asked + 1, lag + 2);
      if (record.asked > lag + 1) record.status = 'ready';
    }
    const shown = record.asked <= lag ? 'pending' : record.status;
    if (shown === 'pending') record.mayHaveBody = false;
    return { ok: true, value: shown };
  },

  remove: (state: WorldState, id: string): void => {
    const record = recordOf(state, id);
    if (record === undefined) return;
    const isElsewhere = Object.values(state.files).some(({ content }) => content === record.content);
    if (record.status === 'ready' || (record.status === 'processing' && !isElsewhere)) state.found.push('R1');
    state.records = state.records.filter((one) => one !== record);
  },
};

export function recordOf(state: WorldState, id: string): ExploredRecord | undefined {
  return state.records.find((record) => record.id === id);
}
