// Pairs of texts of the map that stand on one another, and labels that stand outside of it, in words.
() => {
  const box = (e) => {
    const {left, right, top, bottom} = e.getBoundingClientRect();
    return {left: left + 1, right: right - 1, top: top + 1, bottom: bottom - 1}; // an outline may touch
  };
  const texts = [...document.querySelectorAll('.map svg text')]
    .filter((t) => t.textContent.trim() && t.getAttribute('visibility') !== 'hidden');
  const found = [];
  const card = document.querySelector('.map').getBoundingClientRect();
  texts.forEach((a, i) => {
    const one = box(a);
    if (one.left < card.left || one.right > card.right) found.push(`outside: ${a.textContent}`);
    for (const b of texts.slice(i + 1)) {
      const other = box(b);
      if (one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom) {
        found.push(`${a.textContent} | ${b.textContent}`);
      }
    }
  });
  return found;
}
