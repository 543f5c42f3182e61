// What a list may be, and the error of one that is something else.

export const LIMITS = {megabytes: 16, lines: 50_000, columns: 200, characters: 2_000};

/** A list that cannot be read; `message` says where and why, for people. */
export class ListError extends Error {}
