// Ids in addresses. Pure.

/** The id that a part of an address is; 0, which nothing has, where it is none. */
export const idIn = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0);
