-- One row per distinct name: its words, folded and joined by single spaces. Read by the layer catalogue.
create view full_names as
select distinct name_words as name
from rankings;
