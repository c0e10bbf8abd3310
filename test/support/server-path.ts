/** Debian keeps servers where an ordinary user's PATH may not lead. */
export const SERVER_PATH: string = `${process.env.PATH}:/usr/local/sbin:/usr/sbin`;
