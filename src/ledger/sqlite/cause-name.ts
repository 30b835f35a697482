import { unknownNameCodes } from '../../pipeline/file/failure.ts';

/** A damaged failure must not keep its row from being mended. */
const failure = "iif(json_valid(last_failure), last_failure, '{}')";
const code = `(${failure} ->> '$.code')`;

/** What the service says of a request that it refuses: 'the service answered 422 invalid_request: tags: has too many'. */
const said = `substr(${failure} ->> '$.message', instr(${failure} ->> '$.message', ${code} || ': ') + length(${code}) + 2)`;
const field = `substr(${said}, 1, instr(${said}, ':') - 1)`;

/** `causeKey`, as SQL. */
export const causeName = `(CASE
    WHEN last_failure IS NULL THEN NULL
    WHEN disposal = 'waiting' THEN 'local.' || ${code}
    WHEN ${code} = '${unknownNameCodes.channel}' THEN ${code} || coalesce('.' || (iif(json_valid(plan), plan, '{}') ->> '$.channel'), '')
    WHEN ${code} = '${unknownNameCodes.feed}' THEN ${code} || coalesce('.' || (${failure} ->> '$.feed'), '')
    WHEN ${failure} ->> '$.kind' = 'gone' THEN 'deleted_on_service'
    WHEN ${failure} ->> '$.status' IN (400, 409, 413, 415, 422) AND ${field} <> '' AND ${field} NOT GLOB '*[^a-zA-Z_]*'
      THEN ${code} || '.' || ${field}
    ELSE ${code} END)`;

const ending = "substr(path, length(rtrim(path, replace(path, '.', ''))) + 1)";

/** `mkv`; empty for a name without one, or with one that is hardly one. */
export const extensionName = `iif(instr(path, '.') = 0 OR ${ending} GLOB '*[^a-zA-Z0-9]*' OR length(${ending}) > 8, '', lower(${ending}))`;
