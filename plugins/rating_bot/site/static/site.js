// What the pages do beyond plain HTML: boards answer while one types, and the curve tells of each point.

// --- boards -------------------------------------------------------------------------------------------------

const find = document.getElementById("find");
const WAIT = 180;
let latest = 0;

/** Show a board of another search or order in place; if that fails, go there. */
async function show(address) {
  const turn = ++latest;
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    const text = await answer.text();
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("results");
    if (turn !== latest) return;
    if (!fresh) throw new Error("no board in the answer");
    document.getElementById("results").replaceWith(fresh);
    history.replaceState(null, "", address);
  } catch {
    if (turn === latest) location.assign(address);
  }
}

function asked() {
  const fields = [...new FormData(find)].filter(([name, value]) => value.trim() && !(name === "sort" && value === "rank"));
  const query = new URLSearchParams(fields).toString();
  return find.getAttribute("action").split("?")[0] + (query && `?${query}`);
}

if (find) {
  document.documentElement.classList.add("live");
  let timer = 0;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => show(asked()), WAIT);
  };
  find.addEventListener("input", (event) => event.isComposing || soon());
  find.addEventListener("compositionend", soon);
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    show(asked());
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#results thead a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    find.elements.sort.value = new URL(link.href).searchParams.get("sort") ?? "rank";
    show(link.getAttribute("href"));
  });
}

// --- the curve ----------------------------------------------------------------------------------------------

const curve = document.getElementById("curve");

/** Let a curve tell of the point next to a finger, a mouse or the arrow keys. */
function tell(figure) {
  const spots = JSON.parse(figure.dataset.spots);
  const reading = document.getElementById("reading");
  const hair = document.getElementById("hair");
  const dot = document.getElementById("spot");
  let current = -1;

  function at(index) {
    current = Math.max(0, Math.min(spots.length - 1, index));
    const [x, y, day, what, rating, change, path] = spots[current];
    for (const [part, name, value] of [[hair, "x1", x], [hair, "x2", x], [dot, "cx", x], [dot, "cy", y]]) {
      part.setAttribute(name, `${value}%`);
    }
    hair.setAttribute("visibility", "visible");
    dot.setAttribute("visibility", "visible");
    const figures = document.createElement("b");
    figures.textContent = change ? `${rating}（${change}）` : rating;
    let told = document.createTextNode(what);
    if (path) {
      told = document.createElement("a");
      told.href = figure.dataset.root + path;
      told.textContent = what;
    }
    reading.replaceChildren(`${day} `, told, " ", figures);
  }

  function near(event) {
    const box = figure.getBoundingClientRect();
    const x = (100 * (event.clientX - box.left)) / box.width;
    let best = 0;
    spots.forEach((spot, index) => {
      if (Math.abs(spot[0] - x) <= Math.abs(spots[best][0] - x)) best = index;
    });
    at(best);
  }

  figure.addEventListener("pointermove", near);
  figure.addEventListener("pointerdown", near);
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    at(current < 0 ? spots.length - 1 : current + step);
  });
  at(spots.length - 1);
}

if (curve) tell(curve);
