import type { Finding } from './scenario.ts';
import type { Edit } from './plant.ts';
import type { ScenarioName } from './scenarios.ts';

/** A fault of the kind that the product has to be free of, and who has to notice it. */
export interface PlantedBug {
  readonly edits: readonly Edit[];
  readonly scenario: ScenarioName;
  readonly caughtBy: Finding['invariant'];
}

/** Waits that would take a minute. Applied to the copy that plays a hurried scenario, with a planted bug or without. */
export const hurried: readonly Edit[] = [
  { anchor: 'addressGraceMs = 6e4', instead: 'addressGraceMs = 300' },
  // The bundler writes the number into comparisons.
  { anchor: 'return deadMs < 6e4 ?', instead: 'return deadMs < 300 ?' },
  { anchor: 'if (deadMs < 6e4) return', instead: 'if (deadMs < 300) return' },
  { anchor: 'world.deadMs(facts) >= 6e4', instead: 'world.deadMs(facts) >= 300' },
  { anchor: 'endedMs >= 6e4', instead: 'endedMs >= 300' },
  { anchor: 'Math.max(10 * settleMs, 3e4)', instead: 'Math.max(10 * settleMs, 300)' },
];

export const bugs = {
  'an upload is repeated without asking first': {
    edits: [
      {
        anchor: 'if (uploadStartedAt === null) return trySending(row, signal, world);',
        instead: 'return send(row, signal, world);',
      },
    ],
    scenario: 'the answer to an upload is lost',
    caughtBy: 'no record gets a second complete body',
  },
  'the beginning of an upload is not recorded': {
    edits: [
      {
        anchor: 'await row.write({ uploadStartedAt: row.facts.uploadStartedAt ?? world.clock.now() });',
        instead: '',
      },
    ],
    scenario: 'killed when the service has all bytes',
    caughtBy: 'no record gets a second complete body',
  },
  'a record with a dead address is replaced without being marked as dying': {
    edits: [{ anchor: 'dying: true, replacements: replacements + 1', instead: 'replacements: replacements + 1' }],
    scenario: 'an upload address dies',
    caughtBy: 'every file on disk is ready, or a person is notified',
  },
  'the last part leaves without a second look at the file': {
    edits: [{ anchor: 'async confirm(sha256, signal) {', instead: 'async confirm(sha256, signal) { return;' }],
    scenario: 'a file is overwritten while it is sent',
    caughtBy: 'no mixture of two versions is sent',
  },
  'a host that claims more than it was sent is believed': {
    edits: [{ anchor: 'if (offset > reach) throw beyond(host, offset, reach);', instead: '' }],
    scenario: 'the upload host has other bytes than it was sent',
    caughtBy: 'no mixture of two versions is sent',
  },
  'an upload is continued with another version of the file': {
    edits: [{ anchor: '&& !isSame) throw touched', instead: '&& false) throw touched' }],
    scenario: 'a file is overwritten between two parts of a continued upload, and its time set back',
    caughtBy: 'no mixture of two versions is sent',
  },
  'the last part of a continued upload leaves without a second look': {
    edits: [{ anchor: 'await reader.confirm(sha256, signal); throwIfAborted', instead: 'throwIfAborted' }],
    scenario: 'a file is overwritten while its upload is continued, and its time set back',
    caughtBy: 'no mixture of two versions is sent',
  },
  'a create request in doubt is repeated by the client library': {
    edits: [
      { anchor: 'if (!facts.isRepeatable && mayHaveHappened(error)) return null;', instead: '' },
      { anchor: 'return { priority, signal, maxRetries: 0 };', instead: 'return { priority, signal };' },
    ],
    scenario: 'the answer to a create request is lost',
    caughtBy: 'every empty record is in use or listed',
  },
  'the intent to create is not recorded': {
    edits: [
      {
        anchor: 'const facts = await row.write({ intent: token, suspects: suspectsOf(row.facts) });',
        instead: 'const facts = row.facts;',
      },
    ],
    scenario: 'killed when the service has made the record',
    caughtBy: 'every empty record is in use or listed',
  },
  'a write is answered before it is committed': {
    edits: [
      {
        anchor: 'results = sql.transaction(() => group.map(({ write }) => write(sql)));',
        // It is committed with the next one.
        instead: `if (sql.isInTransaction()) sql.run("COMMIT");
          sql.run("BEGIN");
          results = group.map(({ write }) => write(sql));`,
      },
    ],
    scenario: 'killed when the service has made the record',
    caughtBy: 'every empty record is in use or listed',
  },
  'create requests in doubt are forgotten': {
    edits: [
      {
        anchor: 'return facts.intent === null ? facts.suspects : [...facts.suspects, facts.intent];',
        instead: 'return facts.suspects;',
      },
    ],
    scenario: 'the answer to a create request is lost',
    caughtBy: 'every empty record is in use or listed',
  },
  'the folder is scanned once only': {
    edits: [{ anchor: 'this.#cancelNext = clock.after(jittered, () => void this.#follow());', instead: '' }],
    scenario: 'a file arrives after the first scan, and no event reports it',
    caughtBy: 'every file on disk is ready, or a person is notified',
  },
  'receipts are not written': {
    edits: [{ anchor: 'await log.append({ ...receiptOf(step, facts) });', instead: '' }],
    scenario: 'an old copy of the ledger is restored',
    caughtBy: 'no content is a video twice',
  },
  'an outage of the API uses up the attempts of a file': {
    edits: [{ anchor: 'return { ...failure, kind: "offline" };', instead: 'return failure;' }],
    scenario: 'the API is away for longer than all attempts',
    caughtBy: 'every file on disk is ready, or a person is notified',
  },
  'an outage of the upload host uses up the attempts of a file': {
    edits: [{ anchor: 'if (isOfFile(host, upload))', instead: 'return answer; if (isOfFile(host, upload))' }],
    scenario: 'only the upload host is away for longer than all attempts',
    caughtBy: 'every file on disk is ready, or a person is notified',
  },
  'a file that is still being written is accepted': {
    edits: [{ anchor: 'const writer = await writers.of(file.version, unchangedMs);', instead: 'const writer = null;' }],
    scenario: 'a writer pauses with the file open',
    caughtBy: 'no mixture of two versions is sent',
  },
  'equal content is not looked for': {
    edits: [
      {
        anchor: 'const twins = await store.rows({ group: "twins", of: facts, passing: [...passing] });',
        instead: 'const twins = [];',
      },
    ],
    scenario: 'equal files come together',
    caughtBy: 'no content is a video twice',
  },
  'the hash is not compared before a file is deleted': {
    edits: [
      {
        anchor: 'if (!await isSent(reader, path, expected, checks.signal)) throw',
        instead: 'if (false) throw',
      },
      // Else the new time of change tells before the hash is needed.
      {
        anchor: 'return looksTheSame(one, other) && one.ctimeNs === other.ctimeNs;',
        instead: 'return looksTheSame(one, other);',
      },
    ],
    scenario: 'a file is overwritten between ready and delete',
    caughtBy: 'no content is lost',
  },
  'a moved file overwrites what has its name': {
    edits: [{ anchor: 'await link(file.path, to);', instead: 'await rename(file.path, to); return true;' }],
    scenario: 'another file has the name that a file is moved to',
    caughtBy: 'no content is lost',
  },
  'a version that was given up counts as known': {
    edits: [
      { anchor: 'return facts !== null && stateOf(facts) === "superseded" ? null : facts;', instead: 'return facts;' },
      {
        anchor: 'return looksTheSame(one, other) && one.ctimeNs === other.ctimeNs;',
        instead: 'return looksTheSame(one, other);',
      },
      {
        anchor: 'if (isAway(failure)) return setback(await check(row.facts, world) ?? backAgain);',
        instead: 'if (isAway(failure)) return setback(failure);',
      },
    ],
    scenario: 'a file is overwritten while it is sent, and its time set back',
    caughtBy: 'every file on disk is ready, or a person is notified',
  },
  'a file taken out of reach for deletion is not checked again': {
    edits: [
      { anchor: 'requireSameFile(reader.stats, expected.version);', instead: '' },
      {
        anchor: 'if (!await isSent(reader, path, expected, checks.signal)) throw',
        instead: 'if (false) throw',
      },
    ],
    scenario: 'another file takes the name while a file is deleted',
    caughtBy: 'no content is lost',
  },
  'a retry of everything takes files that cannot have been fixed': {
    edits: [{ anchor: 'if (rule.takes === "any" || force) return null;', instead: 'return null;' }],
    scenario: 'retry --all meets a file that is known to be cut off',
    caughtBy: 'no file that is known to be incomplete is sent',
  },
  'a line of the receipts is trusted unseen': {
    edits: [{ anchor: 'return isReceipt(value) ? value : "strange";', instead: 'return value;' }],
    scenario: 'the receipts have a line that is not ours',
    caughtBy: 'every process ends, in time and with an exit code that says how',
  },
  'a status word in other letters is another word': {
    edits: [{ anchor: 'spelling.get(word.toLowerCase()) ?? word', instead: 'word' }],
    scenario: 'the service writes its status words with capitals',
    caughtBy: 'it gets there',
  },
  'once forgets the files that need a person since an earlier run': {
    edits: [
      {
        anchor: '...await leftForYou(daemon.ledger, { folders, before: since }, isThere), ...files',
        instead: '...files',
      },
    ],
    scenario: 'once runs again while a file is held',
    caughtBy: 'exit code 0 means that no person is needed',
  },
  'a folder has no owner': {
    edits: [
      {
        anchor: 'const isOlder = await this.#isOlder(wasOlder);',
        instead: 'return { isSound: true };',
      },
    ],
    scenario: 'two installations watch one folder',
    caughtBy: 'no content is a video twice',
  },
  'a sidecar stays when its video is put away': {
    edits: [
      { anchor: 'for (const beside of besides)', instead: 'for (const beside of besides.slice(besides.length))' },
    ],
    scenario: 'a sidecar stays when its video is put away',
    caughtBy: 'a video has the title of its file',
  },
  'a skipped duplicate is never given its turn': {
    edits: [{ anchor: 'await store.rows({ group: "stranded", twin: id })', instead: '[]' }],
    scenario: 'of equal files the first fails in processing',
    caughtBy: 'it gets there',
  },
  'videos are not polled by id while the list fails': {
    edits: [
      {
        anchor: 'if (listFailure !== null && isOfAll(listFailure)) return',
        instead: 'if (listFailure !== null) return',
      },
    ],
    scenario: 'the list of videos fails',
    caughtBy: 'it gets there',
  },
  'files that were put away are accepted again': {
    edits: [
      {
        anchor: 'const movedBy = (path) => targets.find(({ holdsFile }) => holdsFile(path))?.template ?? null;',
        instead: 'const movedBy = () => null;',
      },
      {
        anchor: 'const leavesOut = (directory) => targets.some(({ holdsDirectory }) => holdsDirectory(directory));',
        instead: 'const leavesOut = () => false;',
      },
    ],
    scenario: 'purged and installed again, with files put away before',
    caughtBy: 'no content is a video twice',
  },
  'a file that is written through memory is accepted': {
    edits: [
      {
        anchor: 'for (const pid of mappings.get(version.ino) ?? []) {',
        instead: 'for (const pid of []) {',
      },
    ],
    scenario: 'a file is written through memory while no process has it open',
    caughtBy: 'no mixture of two versions is sent',
  },
} satisfies Record<string, PlantedBug>;

/** Seen by nobody after a kill, because the kernel keeps what was written: the order of the system calls tells (kill/unsynced.ts). */
export const durabilityBugs = {
  'the ledger is written with synchronous=NORMAL': [
    {
      anchor: 'require(database, "synchronous", "FULL", 2);',
      instead: 'require(database, "synchronous", "NORMAL", 1);',
    },
  ],
  'receipts are written and not synced': [{ anchor: '${text}`); await file.datasync();', instead: '${text}`);' }],
} satisfies Record<string, readonly Edit[]>;
