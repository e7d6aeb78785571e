// Reads the square code of a card with the camera, in browsers that can. Returns a function that turns the camera off.
// oxlint-disable-next-line no-unused-vars -- other scripts of the page call it
async function readCards(video, onCode) {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'user' } });
  let isOn = true;
  const stop = () => {
    isOn = false;
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  };
  const detector = new BarcodeDetector({ formats: ['qr_code'] });
  video.srcObject = stream;
  void video.play().catch(() => {});
  const read = async () => {
    if (!isOn) return;
    const found = await detector.detect(video).catch(() => []);
    const code = found.map(({ rawValue }) => codeIn(rawValue)).find((one) => one);
    if (code && isOn) return onCode(code);
    setTimeout(read, 200);
  };
  void read();
  return stop;
}

// oxlint-disable-next-line no-unused-vars -- other scripts of the page call it
const hasCamera = 'BarcodeDetector' in window && navigator.mediaDevices !== undefined;
