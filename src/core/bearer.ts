import { createHash, timingSafeEqual } from "node:crypto";

/** Checks an `Authorization` header for a bearer token, in constant time. */
export function bearerCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization) => {
    const given = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? "")?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

/** Gives texts of any length the same length, because the comparison needs it. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
