// A frame as it comes over the line: the length of a JSON header, the header, then one JPEG for each view.

const LENGTH_BYTES = 4;
const text = new TextDecoder();

/** `{tick, step, seq, t, score, success, trust, views: [{camera, world, picture: Blob}]}` of a binary message. */
export function parseFrame(buffer) {
  const length = new DataView(buffer).getUint32(0);
  const header = JSON.parse(text.decode(new Uint8Array(buffer, LENGTH_BYTES, length)));
  let from = LENGTH_BYTES + length;
  const views = header.views.map(({ camera, world, size }) => {
    const picture = new Blob([new Uint8Array(buffer, from, size)], { type: "image/jpeg" });
    from += size;
    return { camera, world, picture };
  });
  return { ...header, views };
}
