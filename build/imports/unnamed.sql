-- The expansions of a lake that no import has named. Their game is known all the same.
from expansions where expansions.name = 'Expansion ' || expansions.id order by id
