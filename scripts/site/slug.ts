/** Returns GitHub's anchor for a heading. The site uses the same anchors, so links work on both. */
export function githubSlug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\-_ ]/gu, "")
    .replaceAll(" ", "-");
}
