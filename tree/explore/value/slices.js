// Long work in short slices, so that the page answers in between.

const SLICE_MILLISECONDS = 12;
const breathe = () => new Promise((resolve) => setTimeout(resolve));

/** Call `work` with each item of an iterable. */
export async function inSlices(items, work) {
  let since = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - since < SLICE_MILLISECONDS) continue;
    await breathe();
    since = performance.now();
  }
}
