import type { SpecId } from '../model/specs.ts';

/** A text of the product that is replaced while it is loaded; the product itself stays as it is. */
export interface Replacement {
  /** From the root of the repository. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A bug that the judge must see. */
export interface Plant {
  readonly name: string;
  readonly breaks: SpecId;
  /** Seeds that showed it last. */
  readonly seen?: readonly number[];
  readonly changes: readonly Replacement[];
}

export const plants: readonly Plant[] = [
  {
    name: 'sends again without asking',
    breaks: 'D2',
    seen: [6],
    changes: [
      {
        file: 'src/pipeline/steps/upload.ts',
        from: 'if (uploadStartedAt === null) return trySending(row, signal, world);',
        to: 'if (uploadStartedAt === null || addressDeadAt === null) return send(row, signal, world);',
      },
    ],
  },
  {
    name: 'binds only in memory',
    breaks: 'E1',
    seen: [6],
    changes: [
      {
        file: 'src/pipeline/steps/create.ts',
        from: 'await row.write(bound, `video ${videoId}`);',
        to: 'void row.write({ ...bound, uploadUrl: null }, `video ${videoId}`);',
      },
    ],
  },
  {
    name: 'forgets the tokens of creates in doubt',
    breaks: 'E1',
    seen: [2],
    changes: [
      {
        file: 'src/pipeline/steps/create.ts',
        from: 'row.write({ intent: token, suspects: suspectsOf(row.facts) })',
        to: 'row.write({ intent: token, suspects: [] })',
      },
    ],
  },
  {
    name: 'replaces a video without deleting it',
    breaks: 'E1',
    seen: [6],
    changes: [
      {
        file: 'src/pipeline/steps/delete-video.ts',
        from: 'const failure = await deleteVideo(videoId, signal, of);',
        to: 'await row.write(unbound); return null; const failure = await deleteVideo(videoId, signal, of);',
      },
    ],
  },
  {
    name: 'no look at the file before the last part leaves',
    breaks: 'M1',
    changes: [
      {
        file: 'packages/client/src/upload/file-pass.ts',
        from: 'await reader.confirm(sha256, signal);',
        to: '',
      },
    ],
  },
  {
    name: 'believes a host that claims more than was sent',
    breaks: 'M1',
    seen: [68],
    changes: [
      {
        file: 'packages/client/src/upload/send-video.ts',
        from: 'if (offset > reach) throw beyond(host, offset, reach);',
        to: '',
      },
    ],
  },
  {
    // One life in some thousands; test/reliability/planted shows the same bug each time.
    name: 'continues with another version of the file',
    breaks: 'M1',
    changes: [
      {
        file: 'packages/client/src/upload/send-video.ts',
        from: 'if (isPartial && !isSame) throw touched(this.#source);',
        to: '',
      },
    ],
  },
  {
    name: 'the last part leaves before its gate',
    breaks: 'D1',
    seen: [425],
    changes: [
      {
        file: 'packages/client/src/upload/file-pass.ts',
        from: 'if (isLast) await this.release(beforeCommit);',
        to: '',
      },
    ],
  },
  {
    name: 'no full scans',
    breaks: 'L1',
    seen: [32],
    changes: [
      {
        file: 'src/watch/scan-schedule.ts',
        from: 'const jittered = this.#nextMs() *',
        to: 'const jittered = 1e9 * this.#nextMs() *',
      },
    ],
  },
  {
    name: 'puts away without comparing the hash',
    breaks: 'L1',
    seen: [63],
    changes: [
      {
        file: 'src/disk/put-away/sent-file.ts',
        from: "if (!(await isSent(reader, path, expected, checks.signal))) throw changed('its content is not what was sent');",
        to: '',
      },
      {
        file: 'src/disk/put-away/sent-file.ts',
        from: 'if (expected.version !== null) requireSameFile(reader.stats, expected.version);',
        to: '',
      },
    ],
  },
  {
    name: 'counts outages as attempts',
    breaks: 'A1',
    seen: [2],
    changes: [{ file: 'src/pipeline/file/outcome.ts', from: "offline: 'put off'", to: "offline: 'refused'" }],
  },
  {
    name: 'a budget that is not kept',
    breaks: 'B1',
    changes: [
      {
        file: 'src/host/request-gate.ts',
        from: 'else await gate.take(priority, request.signal);',
        to: '',
      },
    ],
  },
  {
    name: 'uploads duplicates',
    breaks: 'D1',
    seen: [31],
    changes: [
      {
        file: 'src/pipeline/steps/create.ts',
        from: "facts.onDuplicate === 'skip' && facts.sourceUrl === null",
        to: 'facts.onDuplicate === null',
      },
    ],
  },
  {
    name: 'takes every file as it is first seen',
    breaks: 'L1',
    changes: [
      {
        file: 'src/pipeline/steps/create.ts',
        from: 'return missingNow === null ? ask(row, world) : setback(missingNow);',
        to: 'return ask(row, world);',
      },
    ],
  },
  {
    name: 'a deletion under way is forgotten',
    breaks: 'R1',
    changes: [{ file: 'src/ledger/row.ts', from: 'dying: row.dying === 1', to: 'dying: false' }],
  },
  {
    name: 'a file that ends vanished stays so when it returns',
    breaks: 'L1',
    seen: [9],
    changes: [
      {
        file: 'src/intake/intake.ts',
        from: "if (stateOf(facts) === 'vanished') return judgeAnew(facts, arrival, 'the file is there again', world);",
        to: "if (stateOf(facts) === 'vanished') return 'known';",
      },
    ],
  },
  {
    name: 'gives up by the wall clock',
    breaks: 'T1',
    seen: [116],
    changes: [
      {
        file: 'src/pipeline/rounds/sweep.ts',
        from: 'const waitedMs = ages.of(facts);',
        to: 'const waitedMs = clock.now() - (facts.processingSince ?? clock.now());',
      },
    ],
  },
  {
    name: 'its own moves and deletions count as missing files',
    breaks: 'F1',
    seen: [109],
    changes: [
      {
        file: 'src/daemon/assemble.ts',
        from: 'ledger.roots.expected(...asked, rows.held())',
        to: 'ledger.roots.expected(...asked)',
      },
      {
        file: 'src/watch/missing-files.ts',
        from: "gone: await this.#countLost(stillGone, 'also given up')",
        to: 'gone: stillGone.length',
      },
      { file: 'src/watch/missing-files.ts', from: 'lost === 0 ? null :', to: 'lost === 0 && doubt === null ? null :' },
    ],
  },
  {
    name: 'what was found again waits for its next try',
    breaks: 'F2',
    seen: [224],
    changes: [
      {
        file: 'src/intake/stopped-files.ts',
        from: 'if (lastFailure === null || !isOfLocalFile(lastFailure)) return null;',
        to: 'if (lastFailure === null || isOfLocalFile(lastFailure)) return null;',
      },
    ],
  },
  {
    name: 'a block of the budget moves with the clock',
    breaks: 'V1',
    seen: [77],
    changes: [
      {
        file: 'src/host/budget-store.ts',
        from: 'if (!isLoaded) start = budgetTime({ writtenAt, upMs }, clock.now(), uptimeMs()) - clock.elapsed();',
        to: '',
      },
    ],
  },
  {
    name: 'the counter of the mark is not compared',
    breaks: 'O1',
    seen: [168],
    changes: [
      {
        file: 'src/watch/root-claim.ts',
        from: 'if (isOlder && !this.#isTrusted)',
        to: 'if (isOlder && this.#isTrusted)',
      },
      {
        file: 'src/watch/root-claim.ts',
        from: "if (verdict.is === 'stale' && !this.#isTrusted && (await this.#isOlder(wasOlder))) return null;",
        to: '',
      },
    ],
  },
  {
    name: 'leaves the sidecar behind',
    breaks: 'S1',
    changes: [
      {
        file: 'src/disk/put-away/put-away.ts',
        from: 'await putAwaySidecar(facts, action.value, { file: value ?? null, checks });',
        to: '',
      },
    ],
  },
];

/** @throws when there is none of that name */
export function changesOf(
  name: string,
  among: readonly { readonly name: string; readonly changes: readonly Replacement[] }[],
): readonly Replacement[] {
  const plant = among.find((one) => one.name === name);
  if (plant === undefined) throw new Error(`there is no plant ${name}`);
  return plant.changes;
}
