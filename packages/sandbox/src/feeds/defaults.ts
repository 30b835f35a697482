/**
 * Defaults for values that feeds require but the API has no field for (api-spec sections 2.2 and 2.3). All assumed: a
 * valid podcast or CTV feed needs them, and `PATCH /channels/:id` cannot set them.
 */
export const LANGUAGE = 'en';
export const COUNTRY = 'us';
/** One of Apple's podcast categories. */
export const PODCAST_CATEGORY = 'Society & Culture';
export const IS_EXPLICIT = false;
/**
 * The feed owner's email address, in a reserved domain (RFC 2606 section 3). The owner's name is the channel's name.
 */
export const OWNER_EMAIL = 'podcast@example.com';
/** Value of `podcast:locked`. `no` lets other hosts import the podcast. */
export const PODCAST_LOCKED = 'no';
/** One of Roku's genres; every movie needs one. */
export const GENRE = 'special';
/** US parental rating: not rated. */
export const RATING = { source: 'USA_PR', value: 'NR' } as const;
