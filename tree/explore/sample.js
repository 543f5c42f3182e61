// A photo to try the scanner with: a picture of the index, turned, on a table. The browser draws it; nothing is downloaded but
// the picture.
const SIDE = 900;
const [WIDE, TALL] = [460, 643]; // of the card
const TABLES = [["#8a6f52", "#5e4833"], ["#5f7a6b", "#35493f"], ["#6d7482", "#3b404b"]]; // lit, and in the shade

const some = (choices) => choices[Math.floor(Math.random() * choices.length)];

/** Return a photo of one of these pictures as a JPEG. Throws an Error if the picture does not load. */
export async function samplePhoto(pictures) {
  const image = new Image(WIDE, TALL);
  image.src = some(pictures);
  await image.decode().catch(() => { throw new Error("The sample picture did not load. Try again."); });
  const canvas = Object.assign(document.createElement("canvas"), {width: SIDE, height: SIDE});
  const pen = canvas.getContext("2d");
  drawTable(pen);
  pen.translate(SIDE / 2, SIDE / 2);
  pen.rotate((Math.random() < 0.5 ? -1 : 1) * (0.15 + 0.6 * Math.random()));
  pen.drawImage(image, -WIDE / 2, -TALL / 2, WIDE, TALL);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
}

function drawTable(pen) {
  const light = pen.createLinearGradient(0, 0, SIDE, SIDE);
  some(TABLES).forEach((colour, at) => light.addColorStop(at, colour));
  pen.fillStyle = light;
  pen.fillRect(0, 0, SIDE, SIDE);
}
