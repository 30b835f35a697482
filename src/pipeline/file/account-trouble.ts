/** Why a service refuses every new video of an account, or of one of its channels. */
export type AccountTrouble = 'quota' | 'storage' | 'account' | 'channel';

/**
 * Recognises refusals that concern the whole account although they answer a request for one file. The list of codes is
 * closed on purpose, because refused-creates.ts recognises any other refusal by its repetition.
 *
 * @returns null for every other failure
 */
export function accountTroubleOf({
  code,
  status,
}: {
  readonly code: string;
  readonly status?: number | undefined;
}): AccountTrouble | null {
  const known = codes.get(code.toLowerCase().replaceAll(/[^a-z]/g, ''));
  if (known !== undefined) return known;
  return status === insufficientStorage ? 'storage' : null;
}

/** RFC 4918 section 11.5: the server cannot store what the request needs. */
const insufficientStorage = 507;

/**
 * Codes in lower case without separators, because services write the same words as `quota_reached` and `quotaReached`.
 * docs/services.md names the documentation that each of them comes from.
 */
const codes: ReadonlyMap<string, AccountTrouble> = new Map([
  ...named('quota', 'quotareached quotaexceeded uploadquotareached uploadquotaexceeded uploadlimitreached'),
  ...named('quota', 'uploadlimitexceeded dailylimit dailylimitreached dailylimitexceeded dailyquotaexceeded'),
  ...named('quota', 'monthlylimit monthlylimitreached monthlylimitexceeded monthlyquotaexceeded'),
  ...named('storage', 'storagefull insufficientstorage storagelimitreached storagequotaexceeded'),
  ...named('account', 'planexpired planlimitreached subscriptionexpired trialexpired paymentrequired'),
  ...named('account', 'accountsuspended accountdisabled accountclosed'),
  ...named('account', 'authenticateduseraccountsuspended authenticateduseraccountclosed'),
  ...named('channel', 'channelsuspended channeldisabled channelclosed'),
]);

function named(trouble: AccountTrouble, names: string): readonly (readonly [string, AccountTrouble])[] {
  return names.split(' ').map((name) => [name, trouble]);
}
