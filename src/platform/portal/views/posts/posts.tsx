/** To be written. */
export function Posts() {
  return <h1>Posts</h1>;
}
