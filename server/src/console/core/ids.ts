// Reads ids in URLs. Pure.

/** Returns the id in a part of a URL, or 0, which is no valid id. */
export const idIn = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0);
